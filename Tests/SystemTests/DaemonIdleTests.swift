import Control
import Foundation
import ProviderKit
import Testing

/// What a manager costs while nothing happens, and how soon others learn that something did.
@Suite("Manager at rest", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct DaemonIdleTests {
    private static let isMeasuring = ProcessInfo.processInfo.environment["PROVIDERHOST_MEASURE"] != nil

    /// How often the threads of a process have gone to sleep, as each time they had been awake for something.
    private func awakenings(_ process: pid_t) throws -> Int {
        let tasks = "/proc/\(process)/task"
        return try FileManager.default.contentsOfDirectory(atPath: tasks).reduce(0) { sum, thread in
            try sum + number("voluntary_ctxt_switches:", in: "\(tasks)/\(thread)/status")
        }
    }

    private func number(_ key: String, in file: String) throws -> Int {
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix(key) }, "\(key)")
        return try #require(line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) })
    }

    @Test("An idle manager takes 32 MB at most and never wakes up")
    func idle() async throws {
        try await DaemonLab.run { host in
            try host.importLoopback("office")
            try await Task.sleep(for: .seconds(1))
            let before = try awakenings(host.daemon.pid)
            try await Task.sleep(for: .seconds(Self.isMeasuring ? 10 : 3))
            let times = try awakenings(host.daemon.pid) - before
            let status = "/proc/\(host.daemon.pid)/status"
            let memory = try number("VmRSS:", in: status)
            let own = try number("RssAnon:", in: status)
            print("Idle manager: \(memory) KiB resident, \(own) KiB of them its own, \(times) awakenings")
            #expect(times == 0)
            #expect(own < 8 << 10)
            #expect(memory < 32_000_000 / 1024 * 5 / 4, "a debug build has longer code")
        }
    }

    @Test("A change of status reaches a watcher within 20 ms")
    func latency() async throws {
        try await DaemonLab.run { host in
            try host.importLoopback("office")
            let clients = (0..<2).map { _ in ManagerClient(application: nil, socketPath: host.socketPath) }
            let starter = try #require(try await TunnelProviderManager.loadAllFromPreferences(client: clients[0]).first)
            let watcher = try #require(try await TunnelProviderManager.loadAllFromPreferences(client: clients[1]).first)
            var iterator = watcher.connection.statusChanges.makeAsyncIterator()
            let clock = ContinuousClock()
            var delays: [Duration] = []
            var seen: [VPNStatus?] = []
            for _ in 0..<(Self.isMeasuring ? 100 : 15) {
                // From before the call of one client until the other one knows: more than the way of the change alone.
                var begin = clock.now
                try starter.connection.startVPNTunnel()
                seen.append(await iterator.next())
                delays.append(clock.now - begin)
                seen.append(await iterator.next())
                begin = clock.now
                starter.connection.stopVPNTunnel()
                seen.append(await iterator.next())
                delays.append(clock.now - begin)
                seen.append(await iterator.next())
            }
            let cycle: [VPNStatus?] = [.connecting, .connected, .disconnecting, .disconnected]
            #expect(seen == (0..<delays.count / 2).flatMap { _ in cycle })
            let sorted = delays.sorted()
            print(
                "A change reaches a watcher after \(sorted[sorted.count / 2]) in the median, \(sorted[sorted.count - 1]) at most"
            )
            #expect(sorted[sorted.count / 2] < .milliseconds(20))
        }
    }

    @Test("1,000 configurations are listed, 100 ms in a release build")
    func listing() async throws {
        try await DaemonLab.run { host in
            let client = ManagerClient(application: nil, socketPath: host.socketPath)
            for number in 0..<(Self.isMeasuring ? 1_000 : 100) {
                let manager = TunnelProviderManager(client: client)
                try await manager.loadFromPreferences()
                manager.localizedDescription = "tunnel \(number)"
                manager.protocolConfiguration = TunnelProviderProtocol(
                    providerBundleIdentifier: "org.providerhost.loopback", serverAddress: "label",
                    providerConfiguration: ["IPv4Address": "10.99.0.1"])
                try await manager.saveToPreferences()
            }
            let clock = ContinuousClock()
            var times: [Duration] = []
            for _ in 0..<9 {
                let begin = clock.now
                let managers = try await TunnelProviderManager.loadAllFromPreferences(client: client)
                times.append(clock.now - begin)
                #expect(managers.count == (Self.isMeasuring ? 1_000 : 100))
            }
            print("Configurations are loaded in \(times.sorted()[4]) in the median")
            // A tenth of the number in a debug build, whose code is several times slower.
            #expect(times.sorted()[4] < .milliseconds(100))
        }
    }
}
