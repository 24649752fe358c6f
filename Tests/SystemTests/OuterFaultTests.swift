import Foundation
import Testing

/// The kernel refuses what the packet path asks of it, now and again, and every byte arrives all the same.
@Suite("Refused system calls of the packet path", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct OuterFaultTests {
    /// A call, on what, and the error that some of its calls get.
    struct Fault: CustomTestStringConvertible {
        let call: String
        let error: String
        /// Whether the left end's worker meets it, which sends; else the right end's, which delivers.
        var isAtSender = true

        var testDescription: String { "\(call): \(error)" }
    }

    static let faults =
        ["EIO", "EINVAL", "EMSGSIZE", "ENOBUFS", "EAGAIN"].map { Fault(call: "sendmsg", error: $0) } + [
            Fault(call: "write", error: "EINVAL", isAtSender: false),
            Fault(call: "write", error: "EAGAIN", isAtSender: false),
            Fault(call: "recvmmsg", error: "ECONNREFUSED", isAtSender: false),
        ]

    @Test("A transfer goes on when calls fail", arguments: faults)
    func transfer(_ fault: Fault) throws {
        try Lab.run { lab in
            let ends = try lab.startBoth(TunnelPair())
            let worker = try #require(ends[fault.isAtSender ? 0 : 1].childProcesses().first)
            let log = lab.folder.appendingPathComponent("trace").path
            // Writes to other descriptors wake threads, and are left alone.
            let only = fault.call == "write" ? ["-P", "/dev/net/tun"] : []
            let strace = try lab.start(
                on: lab.left,
                ["strace", "-f", "-qq", "-p", "\(worker)", "-o", log] + only
                    + ["-e", "trace=\(fault.call)", "-e", "inject=\(fault.call):error=\(fault.error):when=5+40"])
            try eventually("strace") {
                try String(contentsOfFile: "/proc/\(worker)/status", encoding: .utf8)
                    .contains("TracerPid:\t\(strace.pid)")
            }
            let transfers = [
                try lab.startTransfer(from: lab.left, to: lab.right, "10.7.0.2", port: 7001, bytes: 4_000_000),
                try lab.startTransfer(from: lab.left, to: lab.right, "fd07::2", port: 7002, bytes: 4_000_000),
            ]
            for transfer in transfers { try transfer.finish() }
            strace.signal(SIGINT)
            _ = try strace.waitForExit()
            let trace = try String(contentsOfFile: log, encoding: .utf8)
            #expect(trace.contains("(INJECTED)"))
            for end in ends { #expect(end.isRunning) }
            try lab.right.ping("10.7.0.1")
        }
    }
}
