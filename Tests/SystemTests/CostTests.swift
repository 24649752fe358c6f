import Foundation
import Testing

/// What a tunnel costs its machine while it carries nothing, and while it carries much for long.
@Suite("What a tunnel costs", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct CostTests {
    @Test("Idle and without keepalive it wakes at most once a second, manager and worker together")
    func idle() throws {
        try Lab.run { lab in
            let ends = try lab.startBoth(TunnelPair())
            // The start, the handshake and the passive keepalive 10 s after it are over, and so is the threads' idling.
            sleep(13)
            let before = try ends.map(wakeUps)
            let seconds = 8
            sleep(UInt32(seconds))
            for (end, before) in zip(ends, before) {
                var wakes = try wakeUps(of: end)
                for (thread, count) in wakes { wakes[thread] = count - (before[thread] ?? 0) }
                // A tick a second falls at most once more often into a window than it has seconds.
                #expect(wakes.values.reduce(0, +) <= seconds + 1, "wake-ups in \(seconds) s: \(wakes)")
            }
        }
    }

    /// How often each thread of manager and worker gave up the processor to wait, and so was woken since it started.
    private func wakeUps(of tunnel: Child) throws -> [String: Int] {
        let processes = [tunnel.pid] + tunnel.childProcesses()
        try #require(processes.count == 2)
        var counts: [String: Int] = [:]
        for process in processes {
            let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")
            try #require(!threads.isEmpty)
            for thread in threads {
                let folder = "/proc/\(process)/task/\(thread)"
                let status = try String(contentsOfFile: "\(folder)/status", encoding: .utf8)
                let name = try String(contentsOfFile: "\(folder)/comm", encoding: .utf8).dropLast()
                let count = try #require(number(of: "voluntary_ctxt_switches", in: status))
                counts["\(name) \(thread)"] = count
            }
        }
        return counts
    }

    @Test(
        "A minute of load both ways does not make the worker grow",
        .enabled(if: TestSize.isLong, "takes a minute: PROVIDERHOST_TEST_LONG=1"))
    func memory() throws {
        try Lab.run { lab in
            let ends = try lab.startBoth(TunnelPair())
            let workers = try ends.map { try #require($0.childProcesses().first) }
            try lab.startServer(on: lab.right)
            let load = try lab.start(on: lab.left, ["iperf3", "-c", "10.7.0.2", "--bidir", "-P", "2", "-t", "65"])
            sleep(5)
            let before = try workers.map(residentKilobytes)
            sleep(58)
            for (worker, before) in zip(workers, before) {
                let growth = try residentKilobytes(of: worker) - before
                #expect(growth <= 512, "\(growth) kB more than \(before) kB")
            }
            #expect(try load.waitForExit(seconds: 20) == 0, "\(load.output)")
        }
    }

    private func residentKilobytes(of process: pid_t) throws -> Int {
        try #require(number(of: "VmRSS", in: String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)))
    }

    /// The value of a line `name: value` of /proc/PID/status.
    private func number(of name: String, in status: String) -> Int? {
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return line?.split(whereSeparator: { $0 == "\t" || $0 == " " }).dropFirst().first.flatMap { Int($0) }
    }
}
