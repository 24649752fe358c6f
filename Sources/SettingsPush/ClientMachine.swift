public import WireGuard

/// The client's end of the protocol: messages, instants and outcomes in, actions out, one deadline.
///
/// Two things go on side by side, the conversation and the settings:
/// ```
///  waiting ─session─► probing ─offer─► fetching ─whole─► settled          bare ─► applying ─► confirming ─► confirmed
///     ▲                 │ ▲               │                │ ▲                       │            │ 10 s without
///     │      5 tries,   │ │ NOTIFY,       │ twice wrong    │ │ unchanged             │ failed     ▼ RESULT_ACK
///     │      refused    ▼ │ renewal,      ▼                │ │                       └──────► earlier settings
///     └─stop────────  resting ◄────────── ┴ ──────────     └─┘
/// ```
/// In no case are settings in force that were not whole, checked and filtered; what was in force stays until they are.
///
/// Call order: any method that takes an instant, then ``pollAction()`` until nil, then look at ``nextTimeout`` again.
public struct ClientMachine: Sendable {
    let policy: PushPolicy
    var context: PolicyContext
    let families: AddressFamilies
    let nonce: UInt64
    var random: SeededRandom
    var clock = SteadyClock()

    var life = Life.idle
    /// When the start goes on without a gateway.
    var startDeadline: Instant?
    var talk = Talk.waiting
    var isUp = false
    var isLost = false

    /// The newest snapshot of its epoch that arrived whole.
    ///
    /// INVARIANT: within an epoch its serial never goes back.
    var newest: SnapshotVersion?
    /// What was said of a snapshot that is not fetched again.
    var refused: SettingsResult?
    /// Whether the same serial with other content is fetched to see which it is.
    var isRefetching = false
    /// Conversations begun anew since one came to its end.
    var restarts = 0
    /// How often rest was taken in a row.
    var rests = 0
    var lastGoAway: UInt32?

    /// The settings in force.
    public internal(set) var applied = DesiredSettings.bare
    /// The settings that a failure goes back to.
    public internal(set) var confirmed = DesiredSettings.bare
    /// The last snapshot that the filter saw, in force or not: what `settings show` and `diff` speak of.
    public internal(set) var lastOffer: DesiredSettings?
    var inFlight: (id: UInt64, change: Change)?
    /// What is applied next; a later one takes its place.
    var waitingChange: Change?
    var rate: ApplyRate
    var isHeldBack = false
    var lastID: UInt64 = 0
    /// The result of the settings in force, until the gateway has it.
    var confirmation: Report?
    /// The result of a snapshot that is not in force.
    var report: Report?

    var lease: Lease?
    var isExpired = false

    private var isReasserting = false
    private var actions: [ClientAction] = []
    private var polled = 0

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - policy: What the profile lets the gateway decide.
    ///   - context: What the filter must know of this machine.
    ///   - families: What this machine can use.
    ///   - seed: A random number, different at every start.
    public init(policy: PushPolicy, context: PolicyContext, families: AddressFamilies, seed: UInt64) {
        self.policy = policy
        self.context = context
        self.families = families
        rate = ApplyRate(perMinute: policy.maxChangesPerMinute)
        random = SeededRandom(seed: seed)
        nonce = random.next()
        if policy.source == .pushPreferred { confirmed = .profile }
    }

    /// The tunnel starts: from now on its settings are decided here, and it is up at ``ClientAction/startCompleted``.
    public mutating func start(now: Instant) {
        let now = clock.advance(to: now)
        guard life == .idle else { return }
        life = .starting
        switch policy.source {
        case .static: want(Change(.profile, .settings), now)
        case .pushPreferred: startDeadline = now + .seconds(3)
        case .push, .pushRequired: startDeadline = now + .seconds(15)
        }
        finishTurn()
    }

    /// A handshake with the gateway was completed.
    public mutating func sessionUp(now: Instant) {
        let now = clock.advance(to: now)
        let wasLost = isLost
        isUp = true
        isLost = false
        if isTalking { resumeTalk(wasLost: wasLost, now) }
        finishTurn()
    }

    /// The gateway no longer answers handshakes; what is in force stays.
    public mutating func sessionLost(now: Instant) {
        _ = clock.advance(to: now)
        isUp = false
        isLost = true
        finishTurn()
    }

    /// Handles a message that came through the gateway's session.
    public mutating func handleMessage(_ bytes: [UInt8], now: Instant) {
        let now = clock.advance(to: now)
        guard let message = try? Message(bytes: bytes) else { return }
        if life == .stopping { finishRelease(message) }
        if isTalking { receive(message, now) }
        finishTurn()
    }

    /// The gateway's machine said that nobody listens at the control address.
    public mutating func handleUnreachable(now: Instant) {
        let now = clock.advance(to: now)
        if isTalking, case .probing = talk { giveUpProbing(now) }
        finishTurn()
    }

    /// The driver has the outcome of a ``ClientAction/apply(id:_:)``: all of it is in force, or nothing has changed.
    public mutating func handleApplied(_ id: UInt64, succeeded: Bool, now: Instant) {
        let now = clock.advance(to: now)
        guard let (expected, change) = inFlight, expected == id else { return }
        inFlight = nil
        if succeeded { noteApplied(change, now) } else { noteFailed(change, now) }
        serviceSettings(now)
        finishTurn()
    }

    /// This machine's networks changed: the snapshot in force is filtered anew, and a refused one gets another chance.
    public mutating func setContext(_ context: PolicyContext, now: Instant) {
        let now = clock.advance(to: now)
        guard context != self.context else { return }
        self.context = context
        if isTalking, refused != nil {
            refused = nil
            if case .settled = talk { probe(now) }
        }
        if isTalking, inFlight == nil, waitingChange == nil, case .pushed(let version, let old) = applied {
            let outcome = PolicyFilter(policy: policy, context: context).filter(old.snapshot)
            lastOffer = .pushed(version, outcome)
            if outcome.settings != old.settings, !outcome.isRejected {
                want(Change(.pushed(version, outcome), .settings), now)
            }
        }
        finishTurn()
    }

    /// The tunnel stops: a lease is given back, and ``ClientAction/released`` follows within half a second.
    public mutating func stop(now: Instant) {
        let now = clock.advance(to: now)
        guard life != .stopping else { return }
        beginRelease(now)
        finishTurn()
    }

    /// When ``handleTimeout(now:)`` is due; nil for never.
    public var nextTimeout: Instant? { nextDeadline.map(clock.driverTime) }

    /// Does what is due.
    public mutating func handleTimeout(now: Instant) {
        let now = clock.advance(to: now)
        if life == .stopping { serviceRelease(now) }
        if isTalking {
            serviceStart(now)
            serviceTalk(now)
            serviceReports(now)
            serviceLease(now)
            serviceSettings(now)
        }
        finishTurn()
    }

    /// The next thing to do; call it until nil after each other call.
    public mutating func pollAction() -> ClientAction? {
        guard polled < actions.count else {
            actions.removeAll(keepingCapacity: true)
            polled = 0
            return nil
        }
        defer { polled += 1 }
        return actions[polled]
    }

    mutating func emit(_ action: ClientAction) { actions.append(action) }

    /// Whether gateways are spoken to: between start and stop, unless the profile alone decides.
    var isTalking: Bool { (life == .starting || life == .started) && policy.source != .static }

    private mutating func finishTurn() {
        let isWithoutAny = policy.source == .push && applied == .bare
        let wanted = life == .started && (inFlight != nil || isExpired || isLost || isWithoutAny)
        guard wanted != isReasserting else { return }
        isReasserting = wanted
        if life == .started { emit(.reasserting(wanted)) }
    }
}
