import Control
import Foundation
import ProviderKit
import Testing

/// What many starts and stops leave of a manager: nothing.
@Suite("Start and stop cycles", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct DaemonCycleTests {
    /// What a process holds, as far as the system counts it.
    private struct Footprint: Equatable {
        let descriptors: Int
        let threads: Int
        let children: Int
        let memory: Int

        init(_ child: Child) throws {
            let process = "/proc/\(child.pid)"
            descriptors = try FileManager.default.contentsOfDirectory(atPath: process + "/fd").count
            let status = try String(contentsOfFile: process + "/status", encoding: .utf8)
            func number(_ key: String) -> Int {
                let line = status.split(separator: "\n").first { $0.hasPrefix(key) } ?? ""
                return line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0
            }
            threads = number("Threads:")
            memory = number("VmRSS:")
            children = child.childProcesses().count
        }
    }

    private func cycle(_ session: TunnelProviderSession, times: Int) async throws {
        let changes = session.statusChanges
        var iterator = changes.makeAsyncIterator()
        for _ in 0..<times {
            try session.startVPNTunnel()
            while let status = await iterator.next(), status != .connected {
                try #require(status == .connecting, "the tunnel is \(status)")
            }
            session.stopVPNTunnel()
            while let status = await iterator.next(), status != .disconnected {
                try #require(status == .disconnecting, "the tunnel is \(status)")
            }
        }
    }

    /// 1,000 cycles, and 10,000 where figures are taken.
    private static let times = ProcessInfo.processInfo.environment["PROVIDERHOST_MEASURE"] == nil ? 1_000 : 10_000

    @Test("hold no descriptor, thread, process, interface, rule or growing memory", .timeLimit(.minutes(40)))
    func cycles() async throws {
        try await DaemonLab.run { host in
            try host.importLoopback("office")
            let client = ManagerClient(application: nil, socketPath: host.socketPath)
            let manager = try #require(try await TunnelProviderManager.loadAllFromPreferences(client: client).first)
            // The first ones fill the caches of the runtime.
            try await cycle(manager.connection, times: 20)
            try await Task.sleep(for: .milliseconds(500))
            let network = try host.lab.left.networkState()
            let before = try Footprint(host.daemon)
            let begin = ContinuousClock.now
            try await cycle(manager.connection, times: Self.times)
            let taken = ContinuousClock.now - begin
            try eventually("the end of the last session") {
                let now = try Footprint(host.daemon)
                return now.descriptors <= before.descriptors && now.children == 0
            }
            let after = try Footprint(host.daemon)
            print("\(Self.times) cycles, \(taken / Self.times) each: before \(before), after \(after)")
            #expect(after.descriptors <= before.descriptors)
            #expect(after.threads <= before.threads + 1)
            #expect(after.memory < before.memory + 4096, "\(before.memory) KiB before, \(after.memory) KiB after")
            #expect(try host.lab.left.networkState() == network)
        }
    }

    @Test("A start is accepted within 20 ms, and a loopback tunnel is up within 150 ms")
    func latencies() async throws {
        try await DaemonLab.run { host in
            try host.importLoopback("office")
            let client = ManagerClient(application: nil, socketPath: host.socketPath)
            let manager = try #require(try await TunnelProviderManager.loadAllFromPreferences(client: client).first)
            let clock = ContinuousClock()
            var accepted: [Duration] = []
            var connected: [Duration] = []
            let changes = manager.connection.statusChanges
            var iterator = changes.makeAsyncIterator()
            for _ in 0..<9 {
                let start = clock.now
                try manager.connection.startVPNTunnel()
                accepted.append(clock.now - start)
                while let status = await iterator.next(), status != .connected {}
                connected.append(clock.now - start)
                manager.connection.stopVPNTunnel()
                while let status = await iterator.next(), status != .disconnected {}
            }
            // Of a shared machine the median tells more than the worst.
            #expect(accepted.sorted()[4] < .milliseconds(20), "\(accepted)")
            #expect(connected.sorted()[4] < .milliseconds(150), "\(connected)")
        }
    }
}
