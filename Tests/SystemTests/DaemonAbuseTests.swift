import Control
import Dispatch
import Foundation
import Glibc
import Testing

/// What callers can do to the manager: nothing that others notice.
@Suite("Abuse of the control socket", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct DaemonAbuseTests {
    /// A raw connection to the control socket.
    private final class Raw {
        let descriptor: Int32

        init(_ path: String) throws {
            descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let bytes = Array(path.utf8)
            unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
            let result = unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            guard result == 0 else { throw LabError("connect: errno \(errno)") }
        }

        deinit { close(descriptor) }

        /// Sends what the socket takes; false once the other end is gone.
        @discardableResult
        func send(_ bytes: [UInt8]) -> Bool {
            unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)) >= 0
                || errno == EAGAIN
        }

        /// Whether the other end has closed, waited for.
        func isClosed(within seconds: Int32) -> Bool {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&entry, 1, seconds * 1000) > 0 else { return false }
            var byte: UInt8 = 0
            return unsafe recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) <= 0
        }
    }

    /// How long an ordinary call takes, in milliseconds: the median, because other tests share the machine.
    private func duration(_ client: ManagerClient, calls: Int = 51) throws -> Double {
        var durations: [Double] = []
        for _ in 0..<calls {
            let start = DispatchTime.now().uptimeNanoseconds
            _ = try client.call(
                .list, ManagerMessages.Application(application: nil), reply: ManagerMessages.Listing.self)
            durations.append(Double(DispatchTime.now().uptimeNanoseconds - start) / 1e6)
        }
        return durations.sorted()[calls / 2]
    }

    @Test("10,000 idle connections leave a call under 50 ms")
    func idleConnections() async throws {
        try await DaemonLab.run { host in
            try host.importLoopback("office")
            var limit = rlimit()
            unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            limit.rlim_cur = limit.rlim_max
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let count = min(10_000, Int(limit.rlim_cur) - 2_000)
            let idle = try (0..<count).map { _ in try Raw(host.socketPath) }
            #expect(try duration(host.client()) < 50, "with \(idle.count) idle connections")
        }
    }

    @Test("A slow reader is not waited for, a byte-wise writer is served, random frames end their connection only")
    func oddCallers() async throws {
        try await DaemonLab.run { host in
            try host.importLoopback("office")
            let client = host.client()
            let slow = try Raw(host.socketPath)
            let call =
                Array(
                    #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"org.providerhost.manager"}}"#
                        .utf8) + [0]
            for _ in 0..<20_000 where !slow.send(call) { break }
            let bytewise = try Raw(host.socketPath)
            for byte in call.dropLast() { bytewise.send([byte]) }
            var generator = SystemRandomNumberGenerator()
            for _ in 0..<200 {
                let random = try Raw(host.socketPath)
                random.send((0..<500).map { _ in UInt8.random(in: 0...255, using: &generator) } + [0])
                #expect(random.isClosed(within: 5))
            }
            #expect(try duration(client) < 50)
            bytewise.send([0])
            #expect(!bytewise.isClosed(within: 1), "it is answered")
            let endless = try Raw(host.socketPath)
            let chunk = [UInt8](repeating: 65, count: 1 << 16)
            try eventually("the end of a call that does not end") { !endless.send(chunk) }
            #expect(try duration(client) < 50)
        }
    }
}
