import ProviderKit
import Session
import Testing

/// A machine on a virtual clock in a world where the system always obeys and the provider does what the test says.
struct Rig {
    private(set) var machine: SessionMachine
    private(set) var now = Instant(nanoseconds: 1_000_000_000)
    /// Every action so far, in order.
    private(set) var actions: [SessionAction] = []
    /// Workers alive at this moment.
    private(set) var workers = 0
    /// TUN interfaces alive at this moment.
    private(set) var interfaces = 0
    /// Whether `applySettings` is answered at once.
    var appliesSettings = true

    init(deadlines: Deadlines = Deadlines(), restart: RestartPolicy = RestartPolicy(), disconnectsOnSleep: Bool = false)
    {
        machine = SessionMachine(deadlines: deadlines, restart: restart, disconnectsOnSleep: disconnectsOnSleep)
    }

    mutating func start(options: [String: PropertyListValue]? = nil) throws {
        perform(try machine.start(options: options, isOnDemand: false, at: now))
    }

    /// Hands in events of one turn and ends the turn.
    mutating func send(_ events: SessionEvent...) {
        for event in events { perform(machine.handle(event, at: now)) }
        endTurn()
    }

    /// Lets time pass, stopping at every deadline on the way.
    mutating func advance(_ duration: Duration) {
        let end = now + duration
        while let next = machine.nextDeadline, next <= end {
            now = max(now, next)
            perform(machine.handle(.deadline, at: now))
        }
        now = end
    }

    /// Brings the session up.
    mutating func connect() throws {
        try start()
        send(.workerReady, .startCompleted(failure: nil))
        #expect(machine.status == .connected)
    }

    private mutating func endTurn() {
        while let next = machine.nextDeadline, next <= now { perform(machine.handle(.deadline, at: now)) }
    }

    private mutating func perform(_ list: [SessionAction]) {
        for action in list {
            actions.append(action)
            switch action {
            case .createInterface:
                interfaces += 1
                #expect(interfaces == 1)
                perform(machine.handle(.interfaceCreated(failure: nil), at: now))
            case .tearDown:
                interfaces -= 1
                perform(machine.handle(.tornDown(failure: nil), at: now))
            case .spawnWorker:
                workers += 1
                #expect(workers == 1)
            case .terminateWorker:
                workers -= 1
                perform(machine.handle(.workerExited(.killed(signal: 9)), at: now))
            case .applySettings(let id, _) where appliesSettings:
                perform(machine.handle(.settingsApplied(id: id, failure: nil), at: now))
            default: break
            }
        }
    }

    /// The worker dies by itself.
    mutating func crash() {
        workers -= 1
        send(.workerExited(.killed(signal: 11)))
    }

    var statuses: [VPNStatus] {
        actions.compactMap { if case .publish(let status, _) = $0 { status } else { nil } }
    }

    var stops: [ProviderStopReason] {
        actions.compactMap { if case .stopProvider(let reason) = $0 { reason } else { nil } }
    }

    var logLines: [String] {
        actions.compactMap { if case .log(_, let text) = $0 { text } else { nil } }
    }

    func count(_ action: SessionAction) -> Int { actions.count { $0 == action } }

    /// The one outcome of a settings call; nil inside for success.
    func outcomes(ofSettings wanted: UInt64) -> [TunnelFailure?] {
        actions.compactMap { if case .completeSettings(wanted, let failure) = $0 { .some(failure) } else { nil } }
    }
}

let providerFailure = TunnelFailure(errorDomain: "test", errorCode: 7, cause: "The server said no.", remedy: "")
let laterFailure = TunnelFailure(errorDomain: "test", errorCode: 8, cause: "Later.", remedy: "")
let someSettings = PacketTunnelNetworkSettings(tunnelRemoteAddress: "192.0.2.1")

func failure(_ code: SessionErrorCode) -> TunnelFailure { TunnelFailure(SessionError(code)) }
