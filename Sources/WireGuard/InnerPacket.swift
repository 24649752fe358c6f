/// The part of an IP header that cryptokey routing needs: one length check, then constant offsets.
public struct InnerPacket: Sendable, Hashable, BitwiseCopyable {
    /// The source address.
    public let source: IPAddress
    /// The destination address.
    public let destination: IPAddress
    /// The length that the header states, at most that of the bytes: what is beyond is padding.
    public let length: Int

    /// Reads a header; nil if it is neither IPv4 nor IPv6, or the bytes are fewer than it says.
    public init?(_ packet: RawSpan) {
        guard packet.byteCount >= 20 else { return nil }
        switch packet.byte(at: 0) >> 4 {
        case 4:
            length = Int(packet.bigEndian16(at: 2))
            guard length >= 20, length <= packet.byteCount else { return nil }
            source = .v4(packet.bigEndian32(at: 12))
            destination = .v4(packet.bigEndian32(at: 16))
        case 6:
            guard packet.byteCount >= 40 else { return nil }
            length = Int(packet.bigEndian16(at: 4)) + 40
            guard length <= packet.byteCount else { return nil }
            source = .v6(packet.bigEndian128(at: 8))
            destination = .v6(packet.bigEndian128(at: 24))
        default:
            return nil
        }
    }
}
