import Glibc
import PacketPath

extension UDPSocket {
    /// The next datagram of at most 2,048 bytes, nil when none comes in time.
    ///
    /// For a few messages only; a tunnel receives with `ReceivePath`.
    func receiveDatagram(milliseconds: Int32) -> [UInt8]? {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&entry, 1, milliseconds) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 2048)
        let count = unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return count > 0 ? Array(bytes[..<count]) : nil
    }
}
