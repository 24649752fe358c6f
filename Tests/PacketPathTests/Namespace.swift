import Glibc
import Synchronization
import Testing

@testable import PacketPath

// Glibc's module leaves out what sched.h declares for GNU programs only.
@_silgen_name("unshare") private func unshare(_ flags: Int32) -> Int32
@_silgen_name("setns") private func setns(_ descriptor: Int32, _ kind: Int32) -> Int32
private let networkNamespace: Int32 = 0x4000_0000

/// Work on a thread of its own, in network namespaces of its own, which are gone with the thread and its descriptors.
enum Namespace {
    static let isRoot = geteuid() == 0

    /// Runs `body` on a new thread and gives back what it returned or threw.
    static func run(_ body: @escaping @Sendable () throws -> Void) async throws {
        let box = Box()
        let thread = try DataThread("namespace") {
            let result = Result { try body() }
            box.value.withLock { $0 = result }
        }
        // A poll in slices, so that a task of the pool is not kept for the whole time.
        while box.value.withLock({ $0 }) == nil { try await Task.sleep(for: .milliseconds(5)) }
        thread.join()
        try box.value.withLock { $0 }?.get()
    }

    /// Leaves for a fresh namespace, with its loopback interface up.
    static func enter() throws {
        let result = unshare(networkNamespace)
        try #require(result == 0, "no network namespace: errno \(errno)")
        try ip("link set lo up")
    }

    /// A descriptor of the thread's namespace, to come back to or to move an interface to.
    static func current() throws -> Int32 {
        let descriptor = unsafe open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        return descriptor
    }

    static func enter(_ descriptor: Int32) throws {
        let result = setns(descriptor, networkNamespace)
        try #require(result == 0)
    }

    /// Runs ip(8) in the thread's namespace.
    static func ip(_ arguments: String) throws {
        let status = unsafe system("exec ip \(arguments)")
        try #require(status == 0, "ip \(arguments)")
    }

    /// A counter of /proc/net/snmp of the thread's namespace.
    static func counter(_ group: String, _ name: String) throws -> Int {
        let descriptor = unsafe open("/proc/thread-self/net/snmp", O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = unsafe read(descriptor, &buffer, buffer.count)
        let rows = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
            .filter { $0.hasPrefix(group + ":") }.map { $0.split(separator: " ") }
        try #require(rows.count == 2)
        let place = try #require(rows[0].firstIndex { $0 == name })
        return try #require(Int(rows[1][place]))
    }
}

/// What a thread leaves behind.
private final class Box: Sendable {
    let value = Mutex<Result<Void, any Error>?>(nil)
}

/// A non-blocking TCP socket of the thread's namespace, for bytes through a tunnel.
final class Stream {
    let descriptor: Int32

    private init(_ descriptor: Int32) throws {
        try #require(descriptor >= 0, "no socket: errno \(errno)")
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    private static func make(_ v6: Bool) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        return socket(v6 ? AF_INET6 : AF_INET, kind, 0)
    }

    /// The socket address of a tunnel end, 10.9.0.x or fd09::x, port 9000.
    private static func withAddress(_ v6: Bool, _ last: UInt8, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32)
        -> Int32
    {
        var bytes = [UInt8](repeating: 0, count: v6 ? 28 : 16)
        bytes.putNative16(Int(v6 ? AF_INET6 : AF_INET), 0)
        bytes.put16(9000, 2)
        if v6 {
            bytes[8] = 0xfd
            bytes[9] = 0x09
            bytes[23] = last
        } else {
            bytes.put32(10 << 24 | 9 << 16 | UInt32(last), 4)
        }
        return unsafe bytes.withUnsafeBytes { raw in
            guard let base = raw.baseAddress else { return -1 }
            return unsafe body(base.assumingMemoryBound(to: sockaddr.self), socklen_t(raw.count))
        }
    }

    static func listen(v6: Bool, _ last: UInt8) throws -> Stream {
        let stream = try Stream(make(v6))
        let bound = unsafe withAddress(v6, last) { unsafe bind(stream.descriptor, $0, $1) }
        try #require(bound == 0 && Glibc.listen(stream.descriptor, 1) == 0, "errno \(errno)")
        return stream
    }

    static func connect(v6: Bool, _ last: UInt8) throws -> Stream {
        let stream = try Stream(make(v6))
        _ = unsafe withAddress(v6, last) { unsafe Glibc.connect(stream.descriptor, $0, $1) }
        return stream
    }

    func accept() throws -> Stream? {
        let descriptor = Glibc.accept(self.descriptor, nil, nil)
        return descriptor < 0 ? nil : try Stream(descriptor)
    }

    /// Writes what the socket takes; the count, 0 for nothing now.
    func write(_ bytes: ArraySlice<UInt8>) -> Int {
        max(
            0,
            unsafe bytes.withUnsafeBytes {
                unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            })
    }

    /// Reads what is there.
    func read(_ limit: Int) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: limit)
        let count = unsafe recv(descriptor, &buffer, limit, Int32(MSG_DONTWAIT))
        return Array(buffer.prefix(max(0, count)))
    }
}
