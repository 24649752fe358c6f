internal import ProviderKit
internal import Session

/// The loop around a session machine: one thread that waits for everything at once, hands it to the machine and performs
/// what the machine answers.
final class SessionDriver {
    /// Messages of a worker that are taken before everything else gets its turn.
    static let messagesPerTurn = 256

    /// What a token of the poller stands for.
    enum Source {
        case signals, alarm, inbox, interface, channel, workerExit, hook(UInt64)
        case controlSocket, controlSocketFile, controlConnection(UInt64)
    }

    let configuration: HostConfiguration
    let system: any SessionSystem
    let inbox: SessionInbox
    let reporter: Reporter
    let poller: EventPoller
    let alarm: AlarmClock
    /// Signals that stop the session; nil where the session's owner takes them.
    let signals: StopSignals?

    var machine: SessionMachine
    var interfaceName: String
    var interface: (any SessionInterface)?
    var worker: RunningWorker?
    /// Counts workers, so that an answer to one never goes to its successor.
    var generation: UInt64 = 0
    var hooks: [UInt64: RunningHook] = [:]
    var controlSocket: ControlSocket?
    var controlClients = ControlClients()

    var nextID: UInt64 = 1
    /// Settings calls by the machine's identifier: whose they are and what the worker calls them.
    var settingsCalls: [UInt64: (generation: UInt64, id: UInt64)] = [:]
    /// What the machine cannot give its effect of the settings in force.
    var shortfalls: [SettingsShortfall] = []
    var replies: [UInt64: @Sendable (Result<[UInt8]?, TunnelFailure>) -> Void] = [:]
    /// The identifier of the last sleep that the worker was told of.
    var sleepID: UInt64 = 0
    var sleepers: [@Sendable () -> Void] = []

    private var sources: [UInt64: Source] = [:]
    private var events: [SessionEvent] = []
    private var isPerforming = false
    private var hasToldOfSecondSignal = false
    private var workerLog = LogLimiter(limit: 200)
    private var ownLog = LogLimiter(limit: 50)

    /// Opens what the loop waits for.
    ///
    /// - Throws: A ``TunnelError``, also for a name that no interface can have.
    init(
        configuration: HostConfiguration, system: any SessionSystem, inbox: SessionInbox, reporter: Reporter,
        takesSignals: Bool
    ) throws {
        self.configuration = configuration
        self.system = system
        self.inbox = inbox
        self.reporter = reporter
        var restart = configuration.restart
        // What tools have configured is gone with a worker that dies: a fresh one would only seem to work.
        if case .tools = configuration.interfaceCare { restart.failureLimit = 1 }
        machine = SessionMachine(
            deadlines: configuration.deadlines, restart: restart,
            disconnectsOnSleep: configuration.protocolConfiguration.disconnectOnSleep)
        interfaceName = try system.interfaceName(wanted: configuration.interfaceName)
        poller = try EventPoller()
        alarm = try AlarmClock()
        signals = takesSignals ? try StopSignals() : nil
        if let signals { try poller.watch(signals.descriptor.number, token: token(for: .signals)) }
        try poller.watch(alarm.descriptor.number, token: token(for: .alarm))
        try poller.watch(inbox.bell.descriptor.number, token: token(for: .inbox))
    }

    /// Runs the session until it is disconnected.
    func run() -> SessionOutcome {
        do {
            let actions = try machine.start(
                options: configuration.options, isOnDemand: configuration.isOnDemand, at: now)
            isPerforming = true
            actions.forEach(perform)
            isPerforming = false
            performAll()
            while machine.status != .disconnected { try turn() }
            for command in inbox.close() { Self.refuse(command) }
            tellDropped()
            return SessionOutcome(machine)
        } catch {
            return abandon(TunnelFailure(error))
        }
    }

    /// Now, as the machine counts.
    var now: Instant { Instant(nanoseconds: AlarmClock.now) }

    /// Hands an event to the machine, after those that wait already.
    func feed(_ event: SessionEvent) {
        events.append(event)
        performAll()
    }

    /// A token for a source; it is never given twice.
    func token(for source: Source) -> UInt64 {
        let token = takeID()
        sources[token] = source
        return token
    }

    /// Forgets a token, so that readiness that was reported already is not acted on.
    func release(token: UInt64) { sources[token] = nil }

    func takeID() -> UInt64 {
        defer { nextID += 1 }
        return nextID
    }

    /// Reports a line of the host's own.
    func log(_ level: LogLevel, _ text: String) { log(level, text, &ownLog) }

    /// Reports a line of the provider's.
    func logFromWorker(_ level: LogLevel, _ text: String) { log(level, text, &workerLog) }

    /// Waits once and deals with everything that is ready: what arrived first, the deadline last.
    private func turn() throws(SystemCallError) {
        let deadlines = [machine.nextDeadline?.nanoseconds, controlClients.nextDeadline]
        try alarm.set(deadlines.compactMap(\.self).min())
        var isAlarmed = false
        for token in try poller.wait() {
            switch sources[token] {
            case .signals: receiveSignals()
            case .inbox: inbox.take().forEach(accept)
            case .interface: checkInterface()
            case .channel: serveChannel()
            case .workerExit: collectWorker()
            case .hook(let id): collectHook(id)
            case .controlSocket: acceptControlConnections()
            case .controlSocketFile: checkControlSocket()
            case .controlConnection(let id): controlClients.noteInput(id, at: AlarmClock.now)
            case .alarm: isAlarmed = true
            case nil: break
            }
        }
        guard isAlarmed else { return }
        alarm.acknowledge()
        endOverdueControlConnections()
        feed(.deadline)
    }

    private func performAll() {
        guard !isPerforming else { return }
        isPerforming = true
        defer { isPerforming = false }
        while !events.isEmpty {
            let event = events.removeFirst()
            machine.handle(event, at: now).forEach(perform)
        }
    }

    private func receiveSignals() {
        for name in signals?.take() ?? [] {
            if machine.ending == nil {
                feed(.stopRequested(.userInitiated))
            } else if !hasToldOfSecondSignal {
                hasToldOfSecondSignal = true
                log(.warning, "\(name) is ignored: the session is stopping already.")
            }
        }
    }

    private func accept(_ command: SessionCommand) {
        switch command {
        case .stop(let reason): feed(.stopRequested(reason))
        case .wake: feed(.wake)
        case .sleep(let allow):
            sleepers.append(allow)
            feed(.sleep)
        case .message(let bytes, let reply):
            let id = takeID()
            replies[id] = reply ?? { _ in }
            feed(.message(id: id, bytes, wantsReply: reply != nil))
            if reply == nil { replies[id] = nil }
        }
    }

    /// Answers a command that no session will see.
    static func refuse(_ command: SessionCommand) {
        switch command {
        case .message(_, let reply): reply?(.failure(TunnelFailure(SessionError(.notRunning))))
        case .sleep(let allow): allow()
        case .stop, .wake: break
        }
    }

    private func log(_ level: LogLevel, _ text: String, _ limiter: inout LogLimiter) {
        guard level <= configuration.logLevel else { return }
        let (isAdmitted, dropped) = limiter.admit(at: AlarmClock.now)
        if dropped > 0 { reporter.send(.log(.warning, "\(dropped) lines of the log were dropped: too many at once.")) }
        if isAdmitted { reporter.send(.log(level, text)) }
    }

    private func tellDropped() {
        let dropped = workerLog.takeDropped() + ownLog.takeDropped()
        if dropped > 0 { reporter.send(.log(.warning, "\(dropped) lines of the log were dropped: too many at once.")) }
    }

    /// Ends without the machine when the loop itself cannot go on: nothing may be left in any case.
    private func abandon(_ failure: TunnelFailure) -> SessionOutcome {
        worker?.process.kill()
        worker = nil
        hooks = [:]
        closeControlSocket()
        let remains = interface?.tearDown() ?? []
        interface = nil
        for what in remains { reporter.send(.log(.error, "Not removed: \(what)")) }
        for reply in replies.values { reply(.success(nil)) }
        for allow in sleepers { allow() }
        for command in inbox.close() { Self.refuse(command) }
        reporter.send(.status(.disconnected, interface: interfaceName, error: failure))
        return .failed
    }
}
