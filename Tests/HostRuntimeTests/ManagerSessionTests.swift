import Foundation
import ProviderKit
import Session
import Synchronization
import Testing

@testable import HostRuntime

/// The manager against a worker that the test plays.
@Suite("Manager of a session", .serialized, .timeLimit(.minutes(2)))
struct ManagerSessionTests {
    @Test("An ordinary session: everything in order, the worker gone before the interface")
    func ordinary() async throws {
        try await onThread {
            let harness = try ManagerHarness { $0.options = ["k": 1] }
            let worker = try harness.nextWorker()
            #expect(try worker.next() == .start(options: ["k": 1]))
            try worker.channel.sendWaiting(.startCompleted(nil))
            try harness.waitFor(.connected)
            #expect(try harness.stop(worker) == .stopped)
            #expect(harness.statuses == [.connecting, .connected, .disconnecting, .disconnected])
            #expect(harness.lastError == nil)
            #expect(harness.system.events.all == ["create", "spawn", "kill", "tear down"])
            #expect(harness.reports.all.first == .status(.connecting, interface: "phtun7", error: nil))
        }
    }

    @Test("Signals stop through the provider, a second one is noted once", arguments: [SIGINT, SIGTERM, SIGHUP])
    func signals(number: Int32) async throws {
        try await onThread {
            let harness = try ManagerHarness()
            let worker = try harness.connect()
            try harness.signal(number)
            #expect(try worker.next() == .stop(.userInitiated))
            try harness.signal(SIGINT)
            try harness.waitForLine("SIGINT is ignored")
            try harness.signal(SIGTERM)
            usleep(20_000)
            try worker.channel.sendWaiting(.stopCompleted)
            #expect(try harness.end() == .stopped)
            #expect(harness.reports.all.count { $0.line?.contains("is ignored") == true } == 1)
        }
    }

    @Test("A state directory that cannot be had is told of, and the tunnel runs without")
    func noStateDirectory() async throws {
        try await onThread {
            let refusal = TunnelFailure(errorDomain: "d", errorCode: 1, cause: "It is full.", remedy: "Make room.")
            let harness = try ManagerHarness(stateRefusal: refusal)
            let worker = try harness.connect()
            try harness.waitForLine("no state directory. It is full. Make room.")
            #expect(try harness.stop(worker) == .stopped)
        }
    }

    @Test("Settings are applied in order and answered by the worker's own identifiers")
    func settings() async throws {
        try await onThread {
            let harness = try ManagerHarness()
            let worker = try harness.connect()
            let interface = try harness.system.interfaces.next()
            try worker.channel.sendWaiting(.setSettings(id: 42, Messages.settings))
            try worker.channel.sendWaiting(.setSettings(id: 42, nil))
            #expect(try worker.next() == .settingsCompleted(id: 42, nil))
            #expect(try worker.next() == .settingsCompleted(id: 42, nil))
            #expect(interface.applied.all == [Messages.settings, nil])
            interface.failure.withLock { $0 = Messages.failure }
            try worker.channel.sendWaiting(.setSettings(id: 43, nil))
            #expect(try worker.next() == .settingsCompleted(id: 43, Messages.failure))
            interface.failure.withLock { $0 = nil }
            #expect(try harness.stop(worker) == .stopped)
        }
    }

    @Test("What settings fall short of is told with them: once, to each worker, and when it is over")
    func shortfalls() async throws {
        try await onThread {
            let harness = try ManagerHarness()
            let worker = try harness.connect()
            let interface = try harness.system.interfaces.next()
            let shortfall = SettingsShortfall(part: "mtu", cause: "The way out is narrow.", remedy: "Widen it.")
            interface.shortfalls.withLock { $0 = [shortfall] }
            try worker.channel.sendWaiting(.setSettings(id: 1, Messages.settings))
            #expect(try worker.next() == .settingsShortfalls([shortfall]))
            #expect(try worker.next() == .settingsCompleted(id: 1, nil))
            try harness.waitForLine("mtu: The way out is narrow. Widen it.")
            try worker.channel.sendWaiting(.setSettings(id: 2, Messages.settings))
            #expect(try worker.next() == .settingsCompleted(id: 2, nil))
            worker.end(.killed(signal: 11))
            let second = try harness.nextWorker()
            #expect(try second.next() == .start(options: nil))
            try second.channel.sendWaiting(.setSettings(id: 1, Messages.settings))
            #expect(try second.next() == .settingsShortfalls([shortfall]))
            #expect(try second.next() == .settingsCompleted(id: 1, nil))
            interface.shortfalls.withLock { $0 = [] }
            try second.channel.sendWaiting(.setSettings(id: 2, nil))
            #expect(try second.next() == .settingsShortfalls([]))
            #expect(try second.next() == .settingsCompleted(id: 2, nil))
            try second.channel.sendWaiting(.startCompleted(nil))
            try harness.waitFor(.connected, times: 2)
            #expect(try harness.stop(second) == .stopped)
        }
    }

    @Test("Sockets arrive as descriptors, a busy port as its error")
    func sockets() async throws {
        try await onThread {
            let harness = try ManagerHarness()
            let worker = try harness.connect()
            try worker.channel.sendWaiting(.openUDPSockets(id: 5, UDPSocketRequest(port: 9, mark: nil)))
            let (message, descriptors) = try worker.nextWithDescriptors()
            #expect(message == .udpSockets(id: 5, .opened(port: 9, hasIPv4: false, hasIPv6: true)))
            #expect(descriptors.count == 1)
            try worker.channel.sendWaiting(.openUDPSockets(id: 6, UDPSocketRequest(port: 1, mark: nil)))
            guard case .udpSockets(6, .failed(let failure)) = try worker.next() else {
                throw Unexpected("no refusal")
            }
            #expect(failure.cause == "UDP port 1 is in use.")
            #expect(try harness.stop(worker) == .stopped)
        }
    }

    @Test(
        "Every worker knows what the machine is connected to before its start, and learns of each change once if it asks"
    )
    func hostNetworks() async throws {
        try await onThread {
            let harness = try ManagerHarness()
            let worker = try harness.connect()
            let interface = try harness.system.interfaces.next()
            try worker.channel.sendWaiting(.observeHostNetworks)
            let address = HostNetworks.Address(interface: "eth0", address: "192.0.2.2", prefixLength: 24, mtu: 1500)
            let networks = HostNetworks(addresses: [address], defaultRouteMTU: 1500)
            interface.connect(to: networks)
            #expect(try worker.next() == .hostNetworks(networks))
            interface.connect(to: networks)
            let fewer = HostNetworks(addresses: [address])
            interface.connect(to: fewer)
            #expect(try worker.next() == .hostNetworks(fewer))
            worker.end(.killed(signal: 11))
            let second = try harness.nextWorker()
            #expect(try second.next() == .hostNetworks(fewer))
            #expect(try second.next() == .start(options: nil))
            try second.channel.sendWaiting(.startCompleted(nil))
            try harness.waitFor(.connected, times: 2)
            #expect(try harness.stop(second) == .stopped)
        }
    }

    @Test("A worker that dies while connected is followed by a fresh one on the same interface")
    func restart() async throws {
        try await onThread {
            let harness = try ManagerHarness()
            let first = try harness.connect()
            first.end(.killed(signal: 11))
            try harness.waitFor(.reasserting)
            let second = try harness.nextWorker()
            #expect(try second.next() == .start(options: nil))
            try second.channel.sendWaiting(.startCompleted(nil))
            try harness.waitFor(.connected, times: 2)
            #expect(harness.system.events.all == ["create", "spawn", "spawn"])
            #expect(try harness.stop(second) == .stopped)
        }
    }

    @Test("Four deaths in a row end the session")
    func deaths() async throws {
        try await onThread {
            let harness = try ManagerHarness()
            try harness.connect().end(.killed(signal: 11))
            for _ in 0..<3 { try harness.nextWorker().end(.exited(1)) }
            #expect(try harness.end() == .failed)
            #expect(harness.lastError?.errorCode == VPNConnectionErrorCode.pluginFailed.rawValue)
            #expect(harness.system.events.all.last == "tear down")
        }
    }

    @Test("The worker's last words count: a failure sent just before the end is the error")
    func lastWords() async throws {
        try await onThread {
            let harness = try ManagerHarness()
            let worker = try harness.nextWorker(loads: false)
            try worker.channel.sendWaiting(.failed(Messages.failure))
            worker.end(.exited(1))
            #expect(try harness.end() == .startFailed)
            #expect(harness.lastError == Messages.failure)
        }
    }

    @Test("An interface deleted from outside is named, also when the provider notices first", arguments: [false, true])
    func interfaceLost(providerFirst: Bool) async throws {
        try await onThread {
            let harness = try ManagerHarness()
            let worker = try harness.connect()
            try harness.system.interfaces.next().lose(quietly: providerFirst)
            if providerFirst { try worker.channel.sendWaiting(.cancelled(Messages.failure)) }
            #expect(try worker.next() == .stop(.internalError))
            try worker.channel.sendWaiting(.stopCompleted)
            #expect(try harness.end() == .failed)
            #expect(harness.lastError?.cause == "The interface phtun7 was deleted from outside.")
        }
    }

    @Test("The provider's own cancel: with an error it failed, without one it stopped", arguments: [true, false])
    func cancel(withError: Bool) async throws {
        try await onThread {
            let harness = try ManagerHarness()
            let worker = try harness.connect()
            try worker.channel.sendWaiting(.cancelled(withError ? Messages.failure : nil))
            #expect(try worker.next() == .stop(withError ? .providerFailed : .none))
            try worker.channel.sendWaiting(.stopCompleted)
            #expect(try harness.end() == (withError ? .failed : .stopped))
            #expect(harness.lastError == (withError ? Messages.failure : nil))
        }
    }

    @Test("Deadlines: load, start and stop")
    func deadlines() async throws {
        try await onThread {
            let load = try ManagerHarness { $0.deadlines.load = .milliseconds(50) }
            _ = try load.nextWorker(loads: false)
            #expect(try load.end() == .startTimedOut)

            let start = try ManagerHarness { $0.deadlines.start = .milliseconds(50) }
            let slow = try start.nextWorker()
            #expect(try slow.next() == .start(options: nil))
            #expect(try slow.next() == .stop(.connectionFailed))
            try slow.channel.sendWaiting(.stopCompleted)
            #expect(try start.end() == .startTimedOut)

            let stop = try ManagerHarness { $0.deadlines.stop = .milliseconds(50) }
            _ = try stop.connect()
            stop.host.stop(.userInitiated)
            #expect(try stop.end() == .stopFailed)
            #expect(stop.system.events.all == ["create", "spawn", "kill", "tear down"])
        }
    }

    @Test("What cannot be made leaves nothing behind")
    func refusals() async throws {
        try await onThread {
            let broken = try ManagerHarness { $0.deadlines.load = .seconds(5) }
            let worker = try broken.nextWorker()
            #expect(try worker.next() == .start(options: nil))
            try worker.channel.sendWaiting(.startCompleted(Messages.failure))
            #expect(try broken.end() == .startFailed)
            #expect(broken.lastError == Messages.failure)
            #expect(broken.system.events.all == ["create", "spawn", "kill", "tear down"])

            let host = try TunnelHost(Self.configuration) { _ in }
            let system = ScriptedSystem()
            system.refusal.withLock { $0 = Messages.failure }
            #expect(host.run(on: system) == .startFailed)
            #expect(system.events.all.isEmpty)

            let second = try TunnelHost(Self.configuration) { _ in }
            let noProcess = ScriptedSystem()
            noProcess.spawnRefusal.withLock { $0 = Messages.failure }
            #expect(second.run(on: noProcess) == .startFailed)
            #expect(noProcess.events.all == ["create", "tear down"])
        }
    }

    @Test("Something that cannot be removed makes the stop a failure that names it")
    func remains() async throws {
        try await onThread {
            let harness = try ManagerHarness()
            let worker = try harness.connect()
            try harness.system.interfaces.next().failure.withLock { $0 = Messages.failure }
            #expect(try harness.stop(worker) == .stopFailed)
            #expect(harness.lastError?.cause.contains("It broke.") == true)
        }
    }

    @Test("App messages are answered once, refused after the end, and given up when the worker dies")
    func messages() async throws {
        try await onThread {
            let harness = try ManagerHarness()
            let worker = try harness.connect()
            let answers = Record<Result<[UInt8]?, TunnelFailure>>()
            harness.host.send([1, 2]) { answers.add($0) }
            guard case .appMessage(let id, [1, 2], wantsReply: true) = try worker.next() else {
                throw Unexpected("no message")
            }
            try worker.channel.sendWaiting(.appMessageReply(id: id, [3]))
            #expect(try answers.next() == .success([3]))
            harness.host.send([4], reply: nil)
            guard case .appMessage(_, [4], wantsReply: false) = try worker.next() else {
                throw Unexpected("no message")
            }
            harness.host.send([5]) { answers.add($0) }
            _ = try worker.next()
            worker.end(.exited(0))
            #expect(try answers.next() == .success(nil))
            harness.host.stop(.userInitiated)
            #expect(try harness.end() == .stopped)
            harness.host.send([6]) { answers.add($0) }
            #expect(try answers.next() == .failure(TunnelFailure(SessionError(.notRunning))))
        }
    }

    @Test("Sleep waits for the provider, wake reaches it, and a finished session does not hold the machine up")
    func sleep() async throws {
        try await onThread {
            let harness = try ManagerHarness()
            let worker = try harness.connect()
            let allowed = Record<Int>()
            harness.host.sleep { allowed.add(1) }
            guard case .sleep(let id) = try worker.next() else { throw Unexpected("no sleep") }
            try worker.channel.sendWaiting(.sleepCompleted(id: id &+ 1))
            try worker.channel.sendWaiting(.log(.info, "after"))
            try harness.waitForLine("after")
            #expect(allowed.all.isEmpty)
            try worker.channel.sendWaiting(.sleepCompleted(id: id))
            #expect(try allowed.next() == 1)
            harness.host.wake()
            #expect(try worker.next() == .wake)
            #expect(try harness.stop(worker) == .stopped)
            harness.host.sleep { allowed.add(2) }
            #expect(try allowed.next() == 2)
        }
    }

    private static var configuration: HostConfiguration {
        HostConfiguration(
            bundlePath: "/b", executablePath: "/b/lib.so", principalClass: "M.P",
            protocolConfiguration: TunnelProviderProtocol(providerBundleIdentifier: "com.example.tunnel"))
    }
}
