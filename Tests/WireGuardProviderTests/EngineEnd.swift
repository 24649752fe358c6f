import Glibc
import PacketPath
import Testing
import WireGuard

@testable import WireGuardProvider

/// One end of a tunnel in memory: the engine, and the test's side of its TUN.
final class EngineEnd {
    let engine: Engine
    let descriptor: Int32
    let port: UInt16

    init(threads: Int = PathOptions.standardThreads) throws {
        var pair: [Int32] = [-1, -1]
        try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &pair) == 0)
        descriptor = pair[0]
        _ = fcntl(pair[1], F_SETFL, O_NONBLOCK)
        let socket = try UDPSocket(family: 4, options: UDPSocket.Options())
        port = socket.port
        var options = PathOptions()
        options.threads = threads
        engine = try Engine(
            tun: TUNDevice(packetSocket: pair[1], offloads: []), sockets: Sockets(ipv4: socket, ipv6: nil),
            mtu: 1420, options: options)
    }

    /// Gives the engine an IP packet as the kernel would; with a segment size, a UDP super-packet.
    func send(_ packet: [UInt8], segmentSize: Int = 0) {
        // struct virtio_net_hdr: checksum to be completed, UDP segmentation, header and segment sizes.
        let size = [UInt8(segmentSize & 255), UInt8(segmentSize >> 8)]
        let header = segmentSize > 0 ? [1, 5, 28, 0] + size + [20, 0, 6, 0] : [UInt8](repeating: 0, count: 10)
        let bytes = header + packet
        _ = unsafe write(descriptor, bytes, bytes.count)
    }

    /// The next packet that the engine writes, nil after two seconds.
    func receive() -> [UInt8]? {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&entry, 1, 2000) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 65_546)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        return count > 10 ? Array(bytes[10..<count]) : nil
    }

    deinit {
        engine.stop()
        close(descriptor)
    }
}
