public import ProviderKit

/// The life of one session as a value: events in, actions out, one deadline; no clock, thread, process or socket inside.
///
/// ```
///             start                interface, worker, startTunnel completed
///  disconnected ───────► connecting ───────────────────────────► connected ◄───────────────┐
///   ▲      ▲ │              │                                      │    │ provider reasserts│ done, or a fresh
///   │      │ │ disabled,    │ failed, cancelled, stopped,          │    │ or worker died    │ worker has taken over
///   │      │ ▼ removed      │ deadline                             │    ▼                   │
///   │    invalid            ▼                                      │  reasserting ──────────┘
///   │                  disconnecting ◄─────────────────────────────┴────┘ stopped, cancelled, interface lost,
///   └────────────────────────┘                                            deadline, worker died too often
///     worker gone, settings undone, interface gone
/// ```
///
/// The driver performs the returned actions in order and then looks at ``nextDeadline`` again. It hands in everything that
/// it has received before it hands in ``SessionEvent/deadline``: a status that a provider sets and takes back within one
/// such turn is never seen.
///
/// The worker of a session runs through its own states below the status:
/// ```
///  none ──spawn──► loading ──ready──► starting ──completed──► running
///    ▲                │ kill             │ stop                  │ stop
///    │ exit           ▼                  ▼                       ▼
///    └───────────── exiting ◄─kill── stopping ◄──────────────────┘
/// ```
/// There is at most one worker, and a session is disconnected only after its worker is gone.
public struct SessionMachine: Sendable {
    /// The status as last published.
    public internal(set) var status: VPNStatus = .disconnected
    /// The first error of the last session, nil when it ended without one.
    public internal(set) var lastDisconnectError: TunnelFailure?
    /// When the tunnel came up; stays while it reasserts.
    public internal(set) var connectedSince: Instant?
    /// What began the end of the last session; nil while it has not begun.
    public internal(set) var ending: SessionEnding?
    /// Whether the provider of the last session missed the deadline of its stop.
    public internal(set) var stopTimedOut = false
    /// Whether something of the last session could not be removed.
    public internal(set) var tearDownFailed = false

    let deadlines: Deadlines
    let restart: RestartPolicy
    let disconnectsOnSleep: Bool

    var phase = Phase.idle
    var interface = Interface.absent
    var worker = Worker.none
    /// INVARIANT: set while a worker is loading, starting or stopping, while the provider reasserts, while a restart is
    /// awaited, and while a return to connected waits for the end of the turn; never while the session is idle.
    var timer: Timer?
    var configuration = ConfigurationState.enabled

    var request = StartRequest(options: nil, isOnDemand: false)
    /// A start that came while the session was ending.
    var waitingStart: StartRequest?
    /// Whether this worker's provider completed its start, either way.
    var startAnswered = false
    /// Since when this worker's provider has been up.
    var upSince: Instant?
    /// Failures in a row of workers of a tunnel that was up.
    var failures = 0
    /// Why the host itself ended a restarted worker; the exit that follows is the failure's second half.
    var restartFailure: TunnelFailure?

    var settings = SettingsQueue()
    var messages = MessageQueue()
    var sleepDeadline: Instant?

    var actions: [SessionAction] = []

    /// Makes a session that is disconnected.
    public init(deadlines: Deadlines, restart: RestartPolicy, disconnectsOnSleep: Bool) {
        self.deadlines = deadlines
        self.restart = restart
        self.disconnectsOnSleep = disconnectsOnSleep
    }

    /// Starts the session, or, while it is ending, notes that it starts again once it is disconnected.
    ///
    /// Returning means that the start is under way, never that the tunnel is up. A stop that comes before a noted start
    /// began drops it.
    ///
    /// - Throws: ``VPNError`` for a configuration that is disabled or removed, ``SessionError`` while the session is active;
    ///   nothing has changed then.
    public mutating func start(
        options: [String: PropertyListValue]?, isOnDemand: Bool, at now: Instant
    ) throws -> [SessionAction] {
        switch configuration {
        case .enabled: break
        case .disabled: throw VPNError(.configurationDisabled)
        case .removed: throw VPNError(.configurationInvalid, cause: "The configuration was removed.")
        }
        let request = StartRequest(options: options, isOnDemand: isOnDemand)
        switch phase {
        case .idle:
            begin(request)
        case .ending where waitingStart == nil:
            waitingStart = request
            log(.info, "The start waits until the session is disconnected.")
        case .ending:
            throw SessionError(.alreadyActive, cause: "A start waits already.", remedy: "Wait until it is connected.")
        case .preparing, .connecting, .up:
            throw SessionError(.alreadyActive, cause: "The session is already \(status).")
        }
        return takeActions()
    }

    /// Tells the machine what happened and returns what is to be done about it.
    public mutating func handle(_ event: SessionEvent, at now: Instant) -> [SessionAction] {
        switch event {
        case .interfaceCreated(let failure): interfaceCreated(failure, now)
        case .interfaceLost(let name): interfaceLost(name, now)
        case .tornDown(let failure): tornDown(failure)
        case .workerReady: workerReady(now)
        case .workerFailed(let failure): workerFailed(failure, now)
        case .workerExited(let how): workerExited(how, now)
        case .startCompleted(let failure): startCompleted(failure, now)
        case .stopCompleted: stopCompleted()
        case .cancelled(let failure): cancelled(failure, now)
        case .reasserting(let value): setReasserting(value, now)
        case .settingsRequested(let id, let wanted): requestSettings(id, wanted)
        case .settingsApplied(let id, let failure): settingsApplied(id, failure)
        case .stopRequested(let reason): stopRequested(reason, now)
        case .configurationChanged(let state): configurationChanged(state, now)
        case .message(let id, let bytes, let wantsReply): receiveMessage(id, bytes, wantsReply, now)
        case .messageReply(let id, let bytes): messageReply(id, bytes)
        case .sleep: prepareForSleep(now)
        case .sleepCompleted: sleepCompleted()
        case .wake: wake()
        case .deadline: fireDeadlines(now)
        }
        return takeActions()
    }

    mutating func emit(_ action: SessionAction) { actions.append(action) }

    mutating func log(_ level: LogLevel, _ text: String) { actions.append(.log(level, text)) }

    /// Publishes a status when it is another one than before.
    mutating func publish(_ status: VPNStatus) {
        guard status != self.status else { return }
        self.status = status
        emit(.publish(status, error: status == .disconnected ? lastDisconnectError : nil))
    }

    private mutating func takeActions() -> [SessionAction] {
        let taken = actions
        actions = []
        return taken
    }
}

extension SessionMachine {
    /// What the session as a whole is doing.
    enum Phase { case idle, preparing, connecting, up, ending }

    /// The interface together with the settings on it.
    enum Interface { case absent, creating, present, tearingDown }

    /// The worker process and the call into its provider that is under way.
    enum Worker { case none, loading, starting, running, stopping, exiting }

    /// What a start brought along; a restarted provider gets the same.
    struct StartRequest: Sendable, Equatable {
        var options: [String: PropertyListValue]?
        var isOnDemand: Bool
    }

    /// The one deadline of the session's own; messages and sleep have theirs beside it.
    struct Timer: Sendable, Equatable {
        enum Kind { case load, start, stop, reasserting, restart, settle }
        var kind: Kind
        var at: Instant
    }
}
