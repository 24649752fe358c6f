import Foundation
import ProviderKit
import Session
import Synchronization
import Testing

@testable import HostRuntime

/// A manager in this process whose interface and workers are the test's.
final class ManagerHarness: Sendable {
    let system = ScriptedSystem()
    let host: TunnelHost
    /// What was reported, in order.
    let reports = Record<SessionReport>()
    private let outcome = Record<SessionOutcome>()
    private let thread = Record<pthread_t>()

    /// Starts the manager on a thread of its own.
    init(
        _ adjust: (inout HostConfiguration) -> Void = { _ in }, stateRefusal: TunnelFailure? = nil,
        report: (@Sendable (SessionReport) -> Void)? = nil
    ) throws {
        system.stateRefusal.withLock { $0 = stateRefusal }
        var configuration = HostConfiguration(
            bundlePath: "/b", executablePath: "/b/lib.so", principalClass: "M.P",
            protocolConfiguration: TunnelProviderProtocol(providerBundleIdentifier: "com.example.tunnel"))
        configuration.restart.firstDelay = .milliseconds(20)
        configuration.logLevel = .debug
        adjust(&configuration)
        host = try TunnelHost(configuration) { [reports] in
            reports.add($0)
            report?($0)
        }
        Thread { [host, system, outcome, thread] in
            thread.add(pthread_self())
            StopSignals.block()
            outcome.add(host.run(on: system))
        }.start()
    }

    /// Waits for the next worker and answers its configuration as a worker whose module loads.
    func nextWorker(loads: Bool = true) throws -> FakeWorker {
        let worker = try system.spawned.next()
        guard case .configure(let configuration) = try worker.next() else { throw Unexpected("no configuration") }
        #expect(configuration.interfaceName == "phtun7" && configuration.virtualHeaderLength == 10)
        let hasState = system.stateRefusal.withLock { $0 == nil }
        #expect(configuration.stateDirectory == (hasState ? "/state/com.example.tunnel" : nil))
        if loads { try worker.channel.sendWaiting(.ready) }
        return worker
    }

    /// Brings the session up.
    func connect() throws -> FakeWorker {
        let worker = try nextWorker()
        #expect(try worker.next() == .start(options: nil))
        try worker.channel.sendWaiting(.startCompleted(nil))
        try waitFor(.connected)
        return worker
    }

    /// Stops the session and waits for its end.
    func stop(_ worker: FakeWorker) throws -> SessionOutcome {
        host.stop(.userInitiated)
        while try worker.next() != .stop(.userInitiated) {}
        try worker.channel.sendWaiting(.stopCompleted)
        return try end()
    }

    /// How the session ended, waited for.
    func end() throws -> SessionOutcome { try outcome.next() }

    /// Waits until a status was reported so many times.
    func waitFor(_ status: VPNStatus, times: Int = 1) throws {
        try reports.wait { reports in reports.count { $0.status == status } >= times }
    }

    /// Waits for a line of the log that contains `text`.
    func waitForLine(_ text: String) throws {
        try reports.wait { reports in reports.contains { $0.line?.contains(text) == true } }
    }

    /// Sends a signal to the thread of the session, as the system sends one to the process.
    func signal(_ number: Int32) throws {
        let thread = try #require(thread.all.first)
        #expect(pthread_kill(thread, number) == 0)
    }

    var statuses: [VPNStatus] { reports.all.compactMap(\.status) }
    var lastError: TunnelFailure? { reports.all.compactMap(\.error).last }
}

/// The machine of a test: one interface at a time, workers that the test plays.
final class ScriptedSystem: SessionSystem, Sendable {
    /// Workers that wait for somebody to play them.
    let spawned = Record<FakeWorker>()
    /// What happened, in order: create, spawn, kill, apply, tear down.
    let events = Record<String>()
    let interfaces = Record<FakeInterface>()
    let refusal = Mutex<TunnelFailure?>(nil)
    let spawnRefusal = Mutex<TunnelFailure?>(nil)
    let stateRefusal = Mutex<TunnelFailure?>(nil)

    func interfaceName(wanted: String?) throws -> String { wanted ?? "phtun7" }

    func makeInterface(name: String, isFixed: Bool) throws -> any SessionInterface {
        if let refusal = refusal.withLock({ $0 }) { throw refusal }
        events.add("create")
        let interface = try FakeInterface(name: name, events: events)
        interfaces.add(interface)
        return interface
    }

    func stateDirectory(of bundleIdentifier: String) throws -> String {
        if let refusal = stateRefusal.withLock({ $0 }) { throw refusal }
        return "/state/\(bundleIdentifier)"
    }

    func spawnWorker(channel: Descriptor) throws -> any SessionWorker {
        if let refusal = spawnRefusal.withLock({ $0 }) { throw refusal }
        events.add("spawn")
        let worker = try FakeWorker(channel: WorkerChannel(channel.duplicate()), events: events)
        spawned.add(worker)
        return worker
    }
}

/// An interface of which nothing exists.
final class FakeInterface: SessionInterface, Sendable {
    let name: String
    let mtu: Int? = nil
    let virtualHeaderLength = 10
    let remarks: [String] = []
    let applied = Record<PacketTunnelNetworkSettings?>()
    /// What `apply` and `tearDown` fail with.
    let failure = Mutex<TunnelFailure?>(nil)
    /// What `apply` cannot do.
    let shortfalls = Mutex<[SettingsShortfall]>([])
    /// What the machine is connected to, and whether that is news.
    let networks = Mutex<(known: HostNetworks?, isNew: Bool)>((nil, false))
    private let lost = Atomic<Bool>(false)
    private let bell: Bell
    private let events: Record<String>

    init(name: String, events: Record<String>) throws {
        self.name = name
        self.events = events
        bell = try Bell()
    }

    var changeDescriptor: Int32 { bell.descriptor.number }

    /// Deletes the interface from outside; a quiet loss is one that nobody has been told of yet.
    func lose(quietly: Bool = false) {
        lost.store(true, ordering: .sequentiallyConsistent)
        if !quietly { bell.ring() }
    }

    func isLost() -> Bool {
        bell.silence()
        return lost.load(ordering: .sequentiallyConsistent)
    }

    func restore() -> [String] { [] }

    /// Connects the machine to other networks.
    func connect(to known: HostNetworks) {
        networks.withLock { $0 = (known, true) }
        bell.ring()
    }

    func hostNetworks() -> HostNetworks? { networks.withLock { $0.known } }

    func takeNetworkChange() -> Bool {
        networks.withLock { networks in
            defer { networks.isNew = false }
            return networks.isNew
        }
    }

    func duplicateDevice() throws -> Descriptor { try ChannelSystem.sealedMemory([]) }

    func apply(_ settings: PacketTunnelNetworkSettings?) throws -> [SettingsShortfall] {
        if let failure = failure.withLock({ $0 }) { throw failure }
        applied.add(settings)
        return shortfalls.withLock { $0 }
    }

    func openSockets(_ request: UDPSocketRequest) throws -> OpenedSockets {
        if request.port == 1 { throw InterfaceError(.socketFailed, cause: "UDP port 1 is in use.") }
        return OpenedSockets(port: request.port, ipv4: nil, ipv6: try ChannelSystem.sealedMemory([6]))
    }

    func tearDown() -> [String] {
        events.add("tear down")
        return failure.withLock { $0 }.map { [$0.cause] } ?? []
    }
}

/// A worker process that is only a channel and an end.
final class FakeWorker: SessionWorker, Sendable {
    let channel: WorkerChannel
    private let bell: Bell
    private let exit = Mutex<WorkerExit?>(nil)
    private let events: Record<String>

    init(channel: WorkerChannel, events: Record<String>) throws {
        self.channel = channel
        self.events = events
        bell = try Bell()
    }

    var exitDescriptor: Int32 { bell.descriptor.number }

    func collect() -> WorkerExit? { exit.withLock { $0 } }

    func kill() {
        events.add("kill")
        end(.killed(signal: 9))
    }

    /// Ends the process.
    func end(_ how: WorkerExit) {
        exit.withLock { exit in if exit == nil { exit = how } }
        bell.ring()
    }

    /// The next message of the manager, waiting at most ten seconds.
    func next() throws -> ManagerMessage { try nextWithDescriptors().0 }

    /// The next message of the manager with its descriptors.
    func nextWithDescriptors() throws -> (ManagerMessage, [Descriptor]) {
        while true {
            switch try channel.receive() {
            case .message(let message, let descriptors): return (message, descriptors)
            case .closed: throw ChannelError.closed
            case .wouldBlock:
                guard try ChannelSystem.waitToRead(channel.fileDescriptor, milliseconds: 10_000) else {
                    throw Unexpected("no message came")
                }
            }
        }
    }
}

/// Values that one thread adds and another waits for.
final class Record<Value: Sendable>: Sendable {
    private let state = Mutex<(values: [Value], taken: Int)>(([], 0))

    func add(_ value: Value) { state.withLock { $0.values.append(value) } }

    var all: [Value] { state.withLock { $0.values } }

    /// The first value that was not taken yet, waiting at most ten seconds.
    func next() throws -> Value {
        try wait { _ in
            state.withLock { $0.values.count > $0.taken }
        }
        return state.withLock { state in
            defer { state.taken += 1 }
            return state.values[state.taken]
        }
    }

    /// Waits for a condition on the values, at most ten seconds.
    func wait(_ condition: ([Value]) -> Bool) throws {
        let deadline = Date.now.addingTimeInterval(10)
        while !condition(all) {
            guard Date.now < deadline else { throw Unexpected("after ten seconds there is only \(all)") }
            usleep(500)
        }
    }
}

struct Unexpected: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension SessionReport {
    var status: VPNStatus? { if case .status(let status, _, _) = self { status } else { nil } }
    var error: TunnelFailure? { if case .status(_, _, let error) = self { error } else { nil } }
    var line: String? { if case .log(_, let line) = self { line } else { nil } }
}
