import CMnl

/// An address on an interface (RTM_NEWADDR).
public struct InterfaceAddress: Hashable, Sendable {
    /// The index of the interface.
    public var interface: UInt32
    /// The local address.
    public var address: IPAddress
    /// The length of the network that counts as on-link: 0 to 32 or 128.
    public var prefixLength: Int
    /// Whether duplicate address detection is skipped (IFA_F_NODAD), without which an IPv6 address is unusable for a second.
    public var skipsDuplicateDetection: Bool

    /// An address on an interface; IPv6 addresses skip duplicate detection unless told otherwise.
    public init(interface: UInt32, address: IPAddress, prefixLength: Int, skipsDuplicateDetection: Bool? = nil) {
        self.interface = interface
        self.address = address
        self.prefixLength = prefixLength
        self.skipsDuplicateDetection = skipsDuplicateDetection ?? (address.family == .ipv6)
    }
}

extension InterfaceAddress {
    /// Length of struct ifaddrmsg.
    static let headerLength = 8

    init?(_ message: Message) {
        guard let header = message.payload.integer(UInt32.self, at: 4), message.payload.count >= Self.headerLength,
            let family = message.payload.first.flatMap(AddressFamily.init(rawValue:)),
            let length = message.payload.integer(UInt8.self, at: 1)
        else { return nil }
        let attributes = message.attributes(after: Self.headerLength)
        // On a point-to-point interface IFA_ADDRESS is the far end and IFA_LOCAL is ours; IPv6 mostly has the former only.
        guard
            let address = attributes.address(AddressAttribute.local, family)
                ?? attributes.address(AddressAttribute.address, family)
        else { return nil }
        let flags =
            attributes.integer(AddressAttribute.flags, as: UInt32.self)
            ?? UInt32(message.payload.integer(UInt8.self, at: 2) ?? 0)
        self.init(
            interface: header, address: address, prefixLength: Int(length),
            skipsDuplicateDetection: flags & UInt32(IFA_F_NODAD) != 0)
    }

    /// Writes struct ifaddrmsg (family, prefix length, flags, scope, index) and the attributes.
    func append(to builder: inout MessageBuilder) {
        builder.append(address.family.rawValue)
        builder.append(UInt8(prefixLength))
        builder.append(UInt8(0))
        builder.append(UInt8(0))
        builder.append(interface)
        builder.attribute(AddressAttribute.local, bytes: address.bytes)
        builder.attribute(AddressAttribute.address, bytes: address.bytes)
        if skipsDuplicateDetection { builder.attribute(AddressAttribute.flags, UInt32(IFA_F_NODAD)) }
    }
}

extension InterfaceAddress: CustomStringConvertible {
    /// The address as `ADDRESS/LENGTH dev INDEX`.
    public var description: String { "\(address)/\(prefixLength) dev \(interface)" }
}
