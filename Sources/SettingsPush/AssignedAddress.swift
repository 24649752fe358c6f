public import WireGuard

/// An address of the peer inside the tunnel, with the length of its network.
public struct AssignedAddress: Sendable, Hashable, CustomStringConvertible {
    /// The address; its host bits count.
    public let address: IPAddress
    /// The number of leading bits that name the network, 0 to 32 or 128.
    public let prefixLength: Int

    /// Makes an address; nil if the family does not have the length.
    public init?(_ address: IPAddress, prefixLength: Int) {
        guard (0...address.bitWidth).contains(prefixLength) else { return nil }
        self.address = address
        self.prefixLength = prefixLength
    }

    public var description: String { "\(address)/\(prefixLength)" }

    /// Family, length, address, and flags, none of which exists yet.
    var canonicalBytes: [UInt8] {
        var writer = WireWriter()
        writer.writeFamily(of: address)
        writer.write(UInt8(prefixLength))
        writer.write(address.bytes)
        writer.write(UInt8(0))
        return writer.bytes
    }

    init(from reader: inout WireReader) throws(SettingsFinding) {
        let bitWidth = try reader.readFamily()
        prefixLength = Int(try reader.readUInt8())
        guard prefixLength <= bitWidth else { throw SettingsFinding(.badPrefixLength) }
        address = try reader.readAddress(bitWidth: bitWidth)
        guard try reader.readUInt8() == 0 else { throw SettingsFinding(.nonCanonical) }
    }
}
