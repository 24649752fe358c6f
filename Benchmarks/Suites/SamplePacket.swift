/// A packet with its virtio header, as a TUN with offloads hands it over.
struct SamplePacket {
    let name: String
    let bytes: [UInt8]
    /// The packets on the wire that it becomes.
    let segments: Int

    static let all = [
        tcp(segments: 44), udp(segments: 44, payload: 1392), udp(segments: 1, payload: 1392),
        udp(segments: 1, payload: 36),
    ]

    /// A TCP super-packet over IPv4 with a time stamp option: segments of 1,420 bytes.
    static func tcp(segments: Int) -> SamplePacket {
        let payload = 1368
        var tcp: [UInt8] = big16(50_000) + big16(5201) + big32(1) + big32(1) + [0x80, 0x10] + big16(512)
        tcp += big16(0) + big16(0) + [1, 1, 8, 10] + big32(7) + big32(8)
        let transport = tcp + body(segments * payload)
        let header = virtio(kind: 1, headerLength: 52, segment: payload, checksumOffset: 16)
        return SamplePacket(
            name: "TCP, \(segments) x 1420", bytes: header + ipv4(6, transport), segments: segments)
    }

    /// A UDP super-packet over IPv4, or with one segment a plain packet.
    static func udp(segments: Int, payload: Int) -> SamplePacket {
        let length = segments * payload + 8
        let transport = big16(50_000) + big16(5201) + big16(length) + big16(0) + body(segments * payload)
        let header =
            segments > 1
            ? virtio(kind: 5, headerLength: 28, segment: payload, checksumOffset: 6) : [UInt8](repeating: 0, count: 10)
        let name = segments > 1 ? "UDP, \(segments) x \(payload + 28)" : "UDP, plain \(payload + 28)"
        return SamplePacket(name: name, bytes: header + ipv4(17, transport), segments: segments)
    }

    // struct virtio_net_hdr in native order, VIRTIO_NET_HDR_F_NEEDS_CSUM set.
    private static func virtio(kind: UInt8, headerLength: Int, segment: Int, checksumOffset: Int) -> [UInt8] {
        [1, kind] + [headerLength, segment, 20, checksumOffset].flatMap { big16($0).reversed() }
    }

    private static func ipv4(_ transportProtocol: UInt8, _ transport: [UInt8]) -> [UInt8] {
        var header: [UInt8] = [0x45, 0] + big16(20 + transport.count) + big16(1) + [0x40, 0, 64, transportProtocol]
        header += big16(0) + [10, 7, 0, 2, 10, 7, 0, 1]
        var sum = stride(from: 0, to: 20, by: 2).reduce(0) { $0 + Int(header[$1]) << 8 + Int(header[$1 + 1]) }
        while sum > 0xffff { sum = sum & 0xffff + sum >> 16 }
        header.replaceSubrange(10..<12, with: big16(~sum & 0xffff))
        return header + transport
    }

    private static func body(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) } }
    private static func big16(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 0xff), UInt8(value & 0xff)] }
    private static func big32(_ value: Int) -> [UInt8] { big16(value >> 16) + big16(value & 0xffff) }
}
