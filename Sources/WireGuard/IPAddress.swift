/// An IPv4 or IPv6 address in host byte order, inside or outside of the tunnel.
public enum IPAddress: Sendable, Hashable, BitwiseCopyable {
    case v4(UInt32)
    case v6(UInt128)

    /// Reads an address in network byte order; nil for other than 4 or 16 bytes.
    public init?(bytes: [UInt8]) {
        let value = bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        switch bytes.count {
        case 4: self = .v4(UInt32(truncatingIfNeeded: value))
        case 16: self = .v6(value)
        default: return nil
        }
    }

    /// The number of bits of an address of this family: 32 or 128.
    public var bitWidth: Int {
        switch self {
        case .v4: 32
        case .v6: 128
        }
    }

    /// The address as IPv4 if it is an IPv4-mapped IPv6 address (`::ffff:a.b.c.d`), else itself.
    public var unmapped: IPAddress {
        guard case .v6(let value) = self, value >> 32 == 0xffff else { return self }
        return .v4(UInt32(truncatingIfNeeded: value))
    }

    /// The address in network byte order, 4 or 16 bytes.
    public var bytes: [UInt8] {
        switch self {
        case .v4(let value): (0..<4).map { UInt8(truncatingIfNeeded: value >> UInt32(24 - 8 * $0)) }
        case .v6(let value): (0..<16).map { UInt8(truncatingIfNeeded: value >> UInt128(120 - 8 * $0)) }
        }
    }
}

/// A network: an address and the number of its leading bits that count.
public struct IPPrefix: Sendable, Hashable, BitwiseCopyable, CustomStringConvertible {
    /// The network address; bits beyond `length` are zero.
    public let address: IPAddress
    /// The number of leading bits that count, 0 to 32 or 128.
    public let length: Int

    /// Makes a prefix and clears the bits beyond its length; nil if the length does not fit the family.
    public init?(_ address: IPAddress, length: Int) {
        guard length >= 0, length <= address.bitWidth else { return nil }
        self.length = length
        switch address {
        case .v4(let value): self.address = .v4(value & ~(UInt32.max >> length))
        case .v6(let value): self.address = .v6(value & ~(UInt128.max >> length))
        }
    }

    /// Parses `10.0.0.0/8`, `fd00::/8`, or an address alone, which stands for itself.
    public init?(_ text: Span<UInt8>) {
        guard let slash = text.firstOffset(of: UInt8(ascii: "/")) else {
            guard let address = IPAddress(text) else { return nil }
            self.init(address, length: address.bitWidth)
            return
        }
        guard let address = IPAddress(text.extracting(0..<slash)),
            let length = DecimalField(text.extracting(slash + 1..<text.count), maximum: UInt32(address.bitWidth))
        else { return nil }
        self.init(address, length: Int(length.value))
    }

    /// Parses a prefix that is at hand as text.
    public init?(_ text: some StringProtocol) {
        let text = String(text)
        self.init(text.utf8Span.span)
    }

    public var description: String { "\(address)/\(length)" }

    /// Whether the address lies in the network.
    public func contains(_ other: IPAddress) -> Bool {
        switch (address, other) {
        case (.v4(let network), .v4(let value)): (network ^ value).leadingZeroBitCount >= length
        case (.v6(let network), .v6(let value)): (network ^ value).leadingZeroBitCount >= length
        default: false
        }
    }
}
