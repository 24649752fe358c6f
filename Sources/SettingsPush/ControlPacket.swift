public import WireGuard

/// The inner packet that carries a message: IPv6 and UDP, port 970 to 970, hop limit 1, link-local at both ends.
public enum ControlPacket {
    /// The UDP port at both ends.
    public static let port: UInt16 = 970
    /// The bytes before the message: IPv6 and UDP headers.
    public static let headerByteCount = 48
    /// The largest inner packet.
    public static let maximumByteCount = 1280

    private static let udpNumber: UInt8 = 17

    /// The address that stands for a public key: `fe80::` with the first 8 bytes of BLAKE2s-256("WGSP1 LL" || key).
    public static func address(of key: PublicKey) -> IPAddress {
        let hash = Key256(blake2sOf: Array("WGSP1 LL".utf8) + key.key.bytes, size: 32).bytes
        return .v6(0xfe80 << 112 | hash[..<8].reduce(0) { $0 << 8 | UInt128($1) })
    }

    /// Whether a packet is one of a control address, by its destination; cheaper than ``message(in:from:to:)``.
    public static func isControlNetwork(_ address: IPAddress) -> Bool {
        guard case .v6(let value) = address else { return false }
        return value >> 64 == 0xfe80 << 48
    }

    /// The packet that carries a message, checksum included.
    public static func make(message: [UInt8], from source: IPAddress, to destination: IPAddress) -> [UInt8] {
        let length = UInt16(8 + message.count)
        var writer = WireWriter()
        writer.write(UInt32(6) << 28)
        writer.write(length)
        writer.write(udpNumber)
        writer.write(UInt8(1))
        writer.write(source.bytes)
        writer.write(destination.bytes)
        writer.write(port)
        writer.write(port)
        writer.write(length)
        // RFC 8200 section 8.1: a computed zero is sent as all ones.
        let sum = checksum(
            payload: ports + [UInt8(length >> 8), UInt8(length & 255), 0, 0] + message, source, destination)
        writer.write(sum == 0 ? UInt16.max : sum)
        writer.write(message)
        return writer.bytes
    }

    /// The message that a packet from `source` to `destination` carries; nil if it is not one, or not a sound one.
    ///
    /// Bytes beyond the length that the packet states are padding.
    public static func message(in packet: [UInt8], from source: IPAddress, to destination: IPAddress) -> [UInt8]? {
        guard packet.count >= headerByteCount, packet[0] >> 4 == 6, packet[6] == udpNumber else { return nil }
        guard Array(packet[8..<24]) == source.bytes, Array(packet[24..<40]) == destination.bytes else { return nil }
        let length = Int(packet[4]) << 8 | Int(packet[5])
        let datagram = packet[40...].prefix(length)
        guard length >= 8, datagram.count == length, 40 + length <= maximumByteCount else { return nil }
        guard Array(datagram.prefix(4)) == ports, Array(datagram[44..<46]) == Array(packet[4..<6]) else { return nil }
        // RFC 8200 section 8.1: over IPv6 a checksum of zero is an error; a right one makes the whole sum zero.
        guard datagram[46] != 0 || datagram[47] != 0, checksum(payload: Array(datagram), source, destination) == 0
        else {
            return nil
        }
        return Array(datagram.dropFirst(8))
    }

    private static var ports: [UInt8] {
        let bytes = [UInt8(port >> 8), UInt8(port & 255)]
        return bytes + bytes
    }

    /// The Internet checksum (RFC 1071) of the pseudo-header and a UDP datagram.
    private static func checksum(payload: [UInt8], _ source: IPAddress, _ destination: IPAddress) -> UInt16 {
        var sum = UInt32(payload.count) + UInt32(udpNumber)
        for bytes in [source.bytes, destination.bytes, payload] {
            for (index, byte) in bytes.enumerated() {
                sum += index.isMultiple(of: 2) ? UInt32(byte) << 8 : UInt32(byte)
            }
        }
        while sum > 0xffff { sum = sum & 0xffff + sum >> 16 }
        return ~UInt16(sum)
    }
}
