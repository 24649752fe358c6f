private import Dispatch
internal import OnDemand
internal import ProviderKit

/// Drives the on-demand rules of every configuration: what the machines want is done, and what came of it told to them.
///
/// ```
/// netlink, files ──► debouncer ──► look (another thread) ──┐            ┌── start, stop
///                                                          ├─► machines ┤
/// saves, sessions, answers of probes ──────────────────────┘            └── probe (another thread)
/// ```
/// Used by the manager's thread alone. Nothing is watched while no rules are in force.
final class OnDemandDriver {
    /// What other threads found out.
    private enum Finding: Sendable {
        case network(NetworkObserver, NetworkSnapshot?)
        case probed(key: String, url: String, isReachable: Bool)
        case stepped(question: UInt64, isReachable: Bool)
        case mayRetry
    }

    /// A question about a host, and who waits for its answer.
    private struct Inquiry {
        var question: ConnectionQuestion
        let answer: (Bool, String) -> Void
    }

    /// Questions about hosts that may be open at once: each has a process of its own.
    private static let inquiryLimit = 16

    /// Starts a session; called with the key of its configuration.
    var onStart: (String) -> Void = { _ in }
    /// Stops a session.
    var onStop: (String) -> Void = { _ in }
    /// Called with what keeps the network from being watched.
    var onProblem: (String) -> Void = { _ in }

    private let loop: EventLoop
    private let inbox: Inbox<Finding>
    private let queue = DispatchQueue(label: "on-demand network")
    private var machines: [String: OnDemandMachine] = [:]
    /// The configurations whose rules are in force.
    private var inForce: Set<String> = []
    private var debouncer = ChangeDebouncer()
    private var observer = NetworkObserver()
    private var network: NetworkSnapshot?
    private var watch: NetworkWatch?
    private var isClosed = false
    private var timer: UInt64?
    private var inquiries: [UInt64: Inquiry] = [:]
    private var nextInquiry: UInt64 = 0

    /// Makes a driver of no configurations.
    ///
    /// - Throws: ``SystemCallError`` when the process has no descriptor left.
    init(_ loop: EventLoop) throws(SystemCallError) {
        self.loop = loop
        inbox = try Inbox()
        _ = try loop.watch(inbox.bell.descriptor.number) { [unowned self] in takeFindings() }
    }

    /// The machine of a configuration.
    func machine(_ key: String) -> OnDemandMachine? { machines[key] }

    /// Takes over a configuration that was loaded or saved: its rules, nil while they are not in force.
    func configure(_ key: String, rules: [OnDemandRule]?) {
        if machines[key] == nil {
            machines[key] = OnDemandMachine()
            if let network { send(.network(network), to: key) }
        }
        send(.configured(rules), to: key)
        if rules == nil { inForce.remove(key) } else { inForce.insert(key) }
        watchIfNeeded()
    }

    /// Forgets a configuration.
    func remove(_ key: String) {
        machines[key] = nil
        inForce.remove(key)
        watchIfNeeded()
    }

    /// Tells what became of a session.
    func send(_ event: OnDemandEvent, to key: String) {
        let deadline = machines[key]?.nextDeadline
        guard let actions = machines[key]?.handle(event, at: .now) else { return }
        perform(actions, of: key)
        if machines[key]?.nextDeadline != deadline { schedule() }
    }

    /// Lets everything that waits for a start be started now, since what kept it from that may be gone; for any thread.
    var retry: @Sendable () -> Void { { [inbox] in inbox.put(.mayRetry) } }

    /// Starts nothing from now on.
    func close() {
        isClosed = true
        watch = nil
        if let timer { loop.cancel(timer) }
    }

    /// Finds out whether a connection to a host needs the tunnel of a configuration.
    ///
    /// - Parameters:
    ///   - key: The configuration.
    ///   - host: The name of the host.
    ///   - answer: Called once on the manager's thread, at once or later, with the answer and the reason.
    /// - Returns: False where too many questions are open already: `answer` is not called.
    func ask(_ key: String, host: String, answer: @escaping (Bool, String) -> Void) -> Bool {
        guard inquiries.count < Self.inquiryLimit else { return false }
        nextInquiry += 1
        proceed(
            Inquiry(question: ConnectionQuestion(about: host, machines[key]?.decision), answer: answer), nextInquiry)
        return true
    }

    private func proceed(_ inquiry: Inquiry, _ number: UInt64) {
        inquiries[number] = inquiry
        let inbox = inbox
        switch inquiry.question.step {
        case .answer(let isNeeded, let reason):
            inquiries[number] = nil
            inquiry.answer(isNeeded, reason)
        case .resolve(let host, let servers):
            DispatchQueue.global().async {
                let isReachable = ReachabilityCheck.resolves(host, servers: servers)
                inbox.put(.stepped(question: number, isReachable: isReachable))
            }
        case .probe(let url, let interface):
            DispatchQueue.global().async {
                let isReachable = ReachabilityCheck.answers(url, interface: interface)
                inbox.put(.stepped(question: number, isReachable: isReachable))
            }
        }
    }

    private func perform(_ actions: [OnDemandAction], of key: String) {
        guard !isClosed else { return }
        for action in actions {
            switch action {
            case .start: onStart(key)
            case .stop: onStop(key)
            case .probe(let url, let interface):
                DispatchQueue.global().async { [inbox] in
                    let isReachable = ReachabilityCheck.answers(url, interface: interface)
                    inbox.put(.probed(key: key, url: url, isReachable: isReachable))
                }
            }
        }
    }

    /// Watches the network while some rules are in force; what it is at first is looked at without delay.
    private func watchIfNeeded() {
        let isNeeded = !isClosed && !inForce.isEmpty
        guard isNeeded != (watch != nil) else { return }
        guard isNeeded else {
            watch = nil
            network = nil
            for key in machines.keys { send(.network(nil), to: key) }
            return
        }
        do {
            watch = try NetworkWatch(loop) { [unowned self] in
                debouncer.note(at: .now)
                schedule()
            }
            look()
        } catch {
            onProblem(
                "On-demand rules are without effect, since the network cannot be watched: \(TunnelFailure(error))")
        }
    }

    private func look() {
        queue.async { [inbox, observer] in
            var observer = observer
            let snapshot = try? observer.look()
            inbox.put(.network(observer, snapshot))
        }
    }

    private func takeFindings() {
        for finding in inbox.take() {
            switch finding {
            case .network(let observer, let snapshot):
                self.observer = observer
                // A kernel that cannot be asked now is asked at the next change.
                guard let snapshot, watch != nil else { continue }
                network = snapshot
                for key in machines.keys { send(.network(snapshot), to: key) }
            case .probed(let key, let url, let isReachable): send(.probed(url, isReachable: isReachable), to: key)
            case .mayRetry: for key in machines.keys { send(.mayRetry, to: key) }
            case .stepped(let number, let isReachable):
                guard var inquiry = inquiries[number] else { continue }
                inquiry.question.take(isReachable)
                proceed(inquiry, number)
            }
        }
    }

    private func schedule() {
        if let timer { loop.cancel(timer) }
        timer = nil
        let deadlines = machines.values.map(\.nextDeadline) + [debouncer.deadline]
        guard !isClosed, let next = deadlines.compactMap(\.self).min() else { return }
        timer = loop.schedule(after: max(.zero, next - .now) / .seconds(1)) { [unowned self] in
            timer = nil
            handleDeadlines()
        }
    }

    private func handleDeadlines() {
        let now = ContinuousClock.now
        if debouncer.takeDue(at: now) { look() }
        for key in machines.keys {
            guard let actions = machines[key]?.handleDeadline(at: now) else { continue }
            perform(actions, of: key)
        }
        schedule()
    }
}
