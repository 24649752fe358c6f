import ProviderKit
import Session
import Testing

@Suite struct LifecycleTests {
    @Test func `an ordinary session`() throws {
        var rig = Rig()
        try rig.start(options: ["a": 1])
        #expect(rig.actions == [.publish(.connecting, error: nil), .createInterface, .spawnWorker])
        rig.send(.workerReady, .startCompleted(failure: nil), .stopRequested(.userInitiated), .stopCompleted)
        #expect(
            rig.actions.dropFirst(3) == [
                .startProvider(options: ["a": 1], isOnDemand: false), .publish(.connected, error: nil),
                .publish(.disconnecting, error: nil), .stopProvider(.userInitiated), .terminateWorker, .tearDown,
                .publish(.disconnected, error: nil),
            ])
        #expect(rig.machine.connectedSince == nil)
        #expect(rig.machine.ending == .requested(.userInitiated))
    }

    @Test func `a stop while disconnected is a no-op`() {
        var rig = Rig()
        rig.send(.stopRequested(.userInitiated))
        #expect(rig.actions.isEmpty)
    }

    @Test func `a refused module ends the start without a call to the provider`() throws {
        var rig = Rig()
        try rig.start()
        rig.send(.workerFailed(providerFailure))
        #expect(rig.machine.status == .disconnected)
        #expect(rig.machine.lastDisconnectError == providerFailure)
        #expect(rig.machine.ending == .startFailed)
        #expect(rig.stops.isEmpty && rig.interfaces == 0 && rig.workers == 0)
    }

    @Test func `a module whose initialiser blocks is killed after 5 seconds`() throws {
        var rig = Rig()
        try rig.start()
        rig.advance(.seconds(5))
        #expect(rig.machine.status == .disconnected)
        #expect(rig.machine.lastDisconnectError == failure(.loadTimedOut))
        #expect(rig.stops.isEmpty && rig.workers == 0)
    }

    @Test func `a worker that dies while the tunnel starts fails the start`() throws {
        var rig = Rig()
        try rig.start()
        rig.send(.workerReady)
        rig.crash()
        #expect(rig.statuses == [.connecting, .disconnecting, .disconnected])
        #expect(rig.machine.lastDisconnectError?.cause == "The provider's process died (killed by signal 11).")
        #expect(rig.machine.ending == .startFailed)
    }

    @Test func `an interface that cannot be made fails the start before any worker`() throws {
        var machine = SessionMachine(deadlines: Deadlines(), restart: RestartPolicy(), disconnectsOnSleep: false)
        let now = Instant(nanoseconds: 0)
        _ = try machine.start(options: nil, isOnDemand: false, at: now)
        let actions = machine.handle(.interfaceCreated(failure: providerFailure), at: now)
        #expect(
            actions == [.publish(.disconnecting, error: nil), .publish(.disconnected, error: providerFailure)])
    }

    @Test func `a stop while the interface is being made takes it away again`() throws {
        var machine = SessionMachine(deadlines: Deadlines(), restart: RestartPolicy(), disconnectsOnSleep: false)
        let now = Instant(nanoseconds: 0)
        _ = try machine.start(options: nil, isOnDemand: false, at: now)
        #expect(machine.handle(.stopRequested(.userInitiated), at: now) == [.publish(.disconnecting, error: nil)])
        #expect(machine.handle(.interfaceCreated(failure: nil), at: now) == [.tearDown])
        #expect(machine.handle(.tornDown(failure: nil), at: now) == [.publish(.disconnected, error: nil)])
    }

    @Test func `a tear-down that fails is reported`() throws {
        var machine = SessionMachine(deadlines: Deadlines(), restart: RestartPolicy(), disconnectsOnSleep: false)
        let now = Instant(nanoseconds: 0)
        _ = try machine.start(options: nil, isOnDemand: false, at: now)
        _ = machine.handle(.stopRequested(.userInitiated), at: now)
        _ = machine.handle(.interfaceCreated(failure: nil), at: now)
        _ = machine.handle(.tornDown(failure: providerFailure), at: now)
        #expect(machine.tearDownFailed)
        #expect(machine.lastDisconnectError == providerFailure)
    }

    @Test func `an interface deleted from outside ends the session through the provider`() throws {
        var rig = Rig()
        try rig.connect()
        rig.send(.interfaceLost(name: "tun0"), .interfaceLost(name: "tun0"))
        #expect(rig.stops == [.internalError])
        rig.send(.stopCompleted)
        #expect(rig.machine.lastDisconnectError?.cause == "The interface tun0 was deleted from outside.")
        #expect(rig.machine.ending == .failed)
    }

    @Test func `a fresh worker takes over with the same options and keeps the connected date`() throws {
        var rig = Rig()
        try rig.start(options: ["a": 1])
        rig.send(.workerReady, .startCompleted(failure: nil))
        let since = rig.machine.connectedSince
        rig.advance(.seconds(10))
        rig.crash()
        rig.advance(.seconds(1))
        rig.send(.workerReady, .settingsRequested(id: 4, someSettings), .startCompleted(failure: nil))
        #expect(rig.count(.startProvider(options: ["a": 1], isOnDemand: false)) == 2)
        #expect(rig.statuses == [.connecting, .connected, .reasserting, .connected])
        #expect(rig.machine.connectedSince == since)
        #expect(rig.count(.createInterface) == 1 && rig.count(.tearDown) == 0)
    }

    @Test func `a worker that was up for 60 seconds clears the failures before it`() throws {
        var rig = Rig()
        try rig.connect()
        for _ in 0..<10 {
            rig.crash()
            rig.advance(.seconds(1))
            rig.send(.workerReady, .startCompleted(failure: nil))
            #expect(rig.machine.status == .connected)
            rig.advance(.seconds(60))
        }
        #expect(rig.count(.tearDown) == 0)
    }

    @Test func `the waits grow to 60 seconds and no further`() throws {
        var policy = RestartPolicy()
        policy.failureLimit = 9
        var rig = Rig(restart: policy)
        try rig.connect()
        for wait in [1, 2, 4, 8, 16, 32, 60, 60] {
            rig.crash()
            rig.advance(.seconds(wait) - .nanoseconds(1))
            #expect(rig.workers == 0)
            rig.advance(.nanoseconds(1))
            #expect(rig.workers == 1)
        }
    }

    @Test func `a restarted provider that cannot start counts as a failure and names it at the end`() throws {
        var rig = Rig()
        try rig.connect()
        rig.crash()
        rig.advance(.seconds(1))
        rig.send(.workerFailed(providerFailure))
        rig.advance(.seconds(2))
        rig.advance(.seconds(5))
        rig.advance(.seconds(4))
        rig.send(.workerReady, .startCompleted(failure: providerFailure))
        #expect(rig.statuses == [.connecting, .connected, .reasserting, .disconnecting, .disconnected])
        #expect(
            rig.machine.lastDisconnectError?.cause
                == "The provider failed 4 times in a row; the last time: The server said no.")
        #expect(rig.workers == 0 && rig.interfaces == 0)
    }

    @Test func `a stop while a restart is awaited ends at once`() throws {
        var rig = Rig()
        try rig.connect()
        rig.crash()
        rig.send(.stopRequested(.userInitiated))
        #expect(rig.machine.status == .disconnected)
        #expect(rig.machine.nextDeadline == nil)
        #expect(rig.stops.isEmpty)
    }

    @Test func `a provider that exits inside stop has stopped`() throws {
        var rig = Rig()
        try rig.connect()
        rig.send(.stopRequested(.userInitiated))
        rig.crash()
        #expect(rig.machine.status == .disconnected)
        #expect(rig.machine.lastDisconnectError == nil)
        #expect(!rig.machine.stopTimedOut)
    }

    @Test func `a disabled or removed configuration stops the session and cannot be started`() throws {
        var rig = Rig()
        try rig.connect()
        rig.send(.configurationChanged(.removed))
        #expect(rig.stops == [.configurationRemoved])
        rig.send(.stopCompleted)
        #expect(rig.statuses.suffix(3) == [.disconnecting, .disconnected, .invalid])
        #expect(throws: VPNError.self) { try rig.start() }
        rig.send(.configurationChanged(.disabled))
        #expect(throws: VPNError(.configurationDisabled)) { try rig.start() }
        rig.send(.configurationChanged(.enabled))
        #expect(rig.machine.status == .disconnected)
        try rig.connect()
    }

    @Test func `sleep proceeds when the provider is ready, or after 10 seconds`() throws {
        var rig = Rig()
        rig.send(.sleep)
        #expect(rig.actions == [.allowSleep])
        try rig.connect()
        rig.send(.sleep, .sleep)
        #expect(rig.count(.sleepProvider) == 1)
        rig.send(.sleepCompleted, .wake)
        #expect(rig.count(.allowSleep) == 2 && rig.count(.wakeProvider) == 1)
        rig.send(.sleep)
        rig.advance(.seconds(10))
        #expect(rig.count(.allowSleep) == 3)
        #expect(rig.machine.status == .connected)
    }

    @Test func `a session that disconnects on sleep is stopped before the machine sleeps`() throws {
        var rig = Rig(disconnectsOnSleep: true)
        try rig.connect()
        rig.send(.sleep)
        #expect(rig.stops == [.sleep])
        #expect(rig.count(.allowSleep) == 0)
        rig.send(.stopCompleted)
        #expect(rig.count(.allowSleep) == 1)
    }

    @Test func `settings of a dying worker are cancelled and the call under way ends before the tear-down`() throws {
        var rig = Rig()
        rig.appliesSettings = false
        try rig.connect()
        rig.send(.settingsRequested(id: 1, someSettings), .settingsRequested(id: 2, someSettings))
        rig.send(.settingsRequested(id: 3, nil), .stopRequested(.userInitiated))
        #expect(rig.outcomes(ofSettings: 2).map { $0?.errorCode } == [2])
        #expect(rig.outcomes(ofSettings: 3).isEmpty)
        rig.crash()
        #expect(rig.outcomes(ofSettings: 1).map { $0?.errorCode } == [2])
        #expect(rig.outcomes(ofSettings: 3).map { $0?.errorCode } == [2])
        #expect(rig.count(.tearDown) == 0)
        rig.send(.settingsApplied(id: 1, failure: nil))
        #expect(rig.count(.tearDown) == 1)
        #expect(rig.outcomes(ofSettings: 1).count == 1)
    }

    @Test func `failed settings are told to the provider and the session goes on`() throws {
        var rig = Rig()
        rig.appliesSettings = false
        try rig.connect()
        rig.send(.settingsRequested(id: 1, someSettings), .settingsApplied(id: 1, failure: providerFailure))
        #expect(rig.outcomes(ofSettings: 1) == [providerFailure])
        #expect(rig.machine.status == .connected)
    }

    @Test func `a provider may clear its settings while it stops`() throws {
        var rig = Rig()
        try rig.connect()
        rig.send(
            .stopRequested(.userInitiated), .settingsRequested(id: 1, nil), .settingsRequested(id: 2, someSettings))
        #expect(rig.outcomes(ofSettings: 1) == [nil])
        #expect(rig.outcomes(ofSettings: 2).map { $0?.errorCode } == [2])
    }

    @Test func `floods of requests are refused past 64`() throws {
        var rig = Rig()
        rig.appliesSettings = false
        try rig.connect()
        for id in 0..<70 as Range<UInt64> {
            rig.send(.settingsRequested(id: id, nil), .message(id: id, [], wantsReply: true))
        }
        #expect((65..<70).allSatisfy { rig.outcomes(ofSettings: $0).count == 1 })
        #expect(rig.outcomes(ofSettings: 64).isEmpty)
        #expect((64..<70).allSatisfy { rig.count(.refuseMessage(id: $0, failure(.tooManyRequests))) == 1 })
    }

    @Test func `messages and replies above 1 MiB are not passed on`() throws {
        var rig = Rig()
        try rig.connect()
        let limit = 1 << 20
        rig.send(.message(id: 1, [UInt8](repeating: 0, count: limit + 1), wantsReply: true))
        #expect(rig.count(.refuseMessage(id: 1, failure(.messageTooLarge))) == 1)
        rig.send(.message(id: 2, [UInt8](repeating: 0, count: limit), wantsReply: true))
        rig.send(.messageReply(id: 2, [UInt8](repeating: 0, count: limit + 1)))
        #expect(rig.count(.replyMessage(id: 2, nil)) == 1)
    }

    @Test func `instants saturate instead of overflowing`() {
        let end = Instant(nanoseconds: .max)
        #expect(end + .seconds(1) == end)
        #expect(Instant(nanoseconds: 5) + .seconds(Int64.max) == end)
        #expect(Instant(nanoseconds: 5) + .seconds(-1) == Instant(nanoseconds: 5))
        #expect(
            Instant(nanoseconds: 3_500_000_000).duration(since: Instant(nanoseconds: 1)) == .nanoseconds(3_499_999_999))
        #expect(Instant(nanoseconds: 1).duration(since: end) == .zero)
    }
}
