import Glibc

@testable import PacketPath

/// Two connected sockets that keep packet borders: one in the place of the TUN, one to see what was written to it.
final class PacketPair {
    let tun: TUNDevice
    private let other: Int32

    init(offloads: TUNDevice.Offloads = [.checksum, .tso4, .tso6, .uso4, .uso6]) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let made = unsafe socketpair(AF_UNIX, kind, 0, &ends)
        precondition(made == 0, "no socket pair")
        var size: Int32 = 8 << 20
        for end in ends {
            for option in [SO_SNDBUF, 32] {
                unsafe _ = setsockopt(end, SOL_SOCKET, option, &size, socklen_t(MemoryLayout<Int32>.size))
            }
        }
        tun = TUNDevice(packetSocket: ends[0], offloads: offloads)
        other = ends[1]
    }

    deinit { close(other) }

    /// Everything written so far, each with its virtio header.
    func drain() -> [[UInt8]] {
        var all: [[UInt8]] = []
        var buffer = [UInt8](repeating: 0, count: 70_000)
        while true {
            let count = unsafe read(other, &buffer, buffer.count)
            guard count > 0 else { return all }
            all.append(Array(buffer[..<count]))
        }
    }

    func write(_ bytes: [UInt8]) { unsafe _ = Glibc.write(other, bytes, bytes.count) }
}

/// Waits until the socket has something, at most a second.
func waitReadable(_ descriptor: Int32) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    unsafe _ = poll(&entry, 1, 5000)
}

/// The process's anonymous resident memory by /proc/self/status, 0 when it cannot be read.
func anonymousKilobytes() -> Int {
    let descriptor = unsafe open("/proc/self/status", O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 8192)
    let count = unsafe read(descriptor, &buffer, buffer.count)
    let rows = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
    let row = rows.first { $0.hasPrefix("RssAnon:") }
    return row.flatMap { Int($0.split(whereSeparator: { " \t".contains($0) })[1]) } ?? 0
}

/// The sanitizers hold back what was freed, or keep books about it, so that resident memory says nothing.
let keepsFreedMemory = unsafe dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
