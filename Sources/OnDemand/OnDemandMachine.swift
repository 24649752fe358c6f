public import ProviderKit

/// The on-demand rules of one configuration at work: events in, actions out, one deadline; no clock, socket or thread inside.
///
/// ```
///              rules in force         every condition is known       the first match
///  not in force ────────────► probing ────────────────────► decided ──────────────────┐
///       ▲                        ▲   another network           │                      ▼
///       └── not in force ────────┴─────────────────────────────┘    connect: start whenever the session is idle
///                                                                   disconnect: stop once
///                                                                   evaluate connection, ignore, no match: nothing
/// ```
/// While the decision is to connect, the session is started again whenever it ended: at once when somebody has stopped it
/// (stopping does not turn on-demand off), after 1, 2, 4 … 60 s when it ended by itself, and at once in another network.
/// A session that somebody starts is left alone until the network changes to one with a disconnect rule.
public struct OnDemandMachine: Sendable {
    /// How long an answer to a probe may take; it has its own, shorter limit.
    public static let probePatience = Duration.seconds(10)
    /// A session that was up for so long has not failed to start.
    public static let stability = Duration.seconds(60)
    private static let longestDelay = 60

    private enum Session {
        case idle
        case active(connectedSince: ContinuousClock.Instant?)
        case stopping
    }

    /// The rules; nil while they are not in force.
    public private(set) var rules: [OnDemandRule]?
    /// What was decided last; nil before, and while no rules are in force.
    public private(set) var decision: OnDemandDecision?
    /// How often in a row the session ended by itself.
    public private(set) var failures = 0
    /// When the session is started again; nil while nothing waits for that.
    public private(set) var retryTime: ContinuousClock.Instant?

    private var network: NetworkSnapshot?
    private var session = Session.idle
    /// The answers of this network.
    private var probes: [String: Bool] = [:]
    private var pending: (url: String, deadline: ContinuousClock.Instant)?
    private var actions: [OnDemandAction] = []

    /// Makes a machine without rules.
    public init() {}

    /// When to call ``handleDeadline(at:)``.
    public var nextDeadline: ContinuousClock.Instant? { [pending?.deadline, retryTime].compactMap(\.self).min() }

    /// Whether a session runs, or is on its way up or down.
    public var isActive: Bool {
        if case .idle = session { false } else { true }
    }

    /// Tells the machine what happened and returns what is to be done about it.
    public mutating func handle(_ event: OnDemandEvent, at now: ContinuousClock.Instant) -> [OnDemandAction] {
        switch event {
        case .configured(let rules): configured(rules, now)
        case .network(let network): changed(network, now)
        case .probed(let url, let isReachable): probed(url, isReachable, now)
        case .sessionBegan: began()
        case .sessionConnected: if case .active(nil) = session { session = .active(connectedSince: now) }
        case .sessionEnded(let wasRequested): ended(wasRequested: wasRequested, now)
        case .mayRetry: if retryTime != nil { retry(now) }
        }
        return takeActions()
    }

    /// Deals with what has become due.
    public mutating func handleDeadline(at now: ContinuousClock.Instant) -> [OnDemandAction] {
        if let pending, now >= pending.deadline { probed(pending.url, false, now) }
        if let retryTime, now >= retryTime { retry(now) }
        return takeActions()
    }

    private mutating func configured(_ fresh: [OnDemandRule]?, _ now: ContinuousClock.Instant) {
        guard fresh != rules else {
            // What was saved may be what made starts fail.
            if retryTime != nil { retry(now) }
            return
        }
        rules = fresh
        forget()
        if fresh != nil { evaluate(now) } else { decision = nil }
    }

    private mutating func changed(_ fresh: NetworkSnapshot?, _ now: ContinuousClock.Instant) {
        guard fresh != network else { return }
        network = fresh
        forget()
        evaluate(now)
    }

    /// What holds for other rules or another network.
    private mutating func forget() {
        probes = [:]
        pending = nil
        failures = 0
        retryTime = nil
    }

    private mutating func probed(_ url: String, _ isReachable: Bool, _ now: ContinuousClock.Instant) {
        // An answer that was asked for in another network says nothing about this one.
        guard pending?.url == url else { return }
        pending = nil
        probes[url] = isReachable
        evaluate(now)
    }

    private mutating func evaluate(_ now: ContinuousClock.Instant) {
        guard let rules, let network else { return }
        guard let primary = network.primary else { return decide(.noNetwork, network, now) }
        guard primary.kind != .virtual else { return decide(.foreignTunnel, network, now) }
        switch RuleEvaluation(rules, primary, network, probes: probes) {
        case .match(let index): decide(.rule(index, rules[index]), network, now)
        case .noMatch: decide(.noRule, network, now)
        case .needsProbe(let url):
            // The former decision stays until the answer is there.
            pending = (url, now + Self.probePatience)
            actions.append(.probe(url, interface: primary.name))
        }
    }

    private mutating func decide(
        _ reason: OnDemandDecision.Reason, _ network: NetworkSnapshot, _ now: ContinuousClock.Instant
    ) {
        decision = OnDemandDecision(reason: reason, network: network, time: now)
        if case .active = session, decision?.action == .disconnect {
            session = .stopping
            actions.append(.stop)
        }
        startIfNeeded()
    }

    private mutating func startIfNeeded() {
        guard decision?.action == .connect, pending == nil, retryTime == nil, case .idle = session else { return }
        session = .active(connectedSince: nil)
        actions.append(.start)
    }

    private mutating func began() {
        session = .active(connectedSince: nil)
        retryTime = nil
    }

    private mutating func ended(wasRequested: Bool, _ now: ContinuousClock.Instant) {
        if case .active(let since?) = session, now - since >= Self.stability { failures = 0 }
        session = .idle
        if wasRequested {
            failures = 0
        } else if decision?.action == .connect {
            failures += 1
            // 1, 2, 4 … 32, 60 s.
            retryTime = now + .seconds(min(1 << min(failures - 1, 6), Self.longestDelay))
        }
        startIfNeeded()
    }

    private mutating func retry(_ now: ContinuousClock.Instant) {
        retryTime = nil
        startIfNeeded()
    }

    private mutating func takeActions() -> [OnDemandAction] {
        defer { actions = [] }
        return actions
    }
}
