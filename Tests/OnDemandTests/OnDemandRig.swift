import OnDemand
import ProviderKit

/// A machine on a virtual clock, with everything that it wanted.
final class OnDemandRig {
    private(set) var machine = OnDemandMachine()
    private(set) var now = ContinuousClock.now
    private(set) var actions: [OnDemandAction] = []

    /// Puts rules in force in a network.
    init(_ rules: [OnDemandRule]?, in network: NetworkSnapshot? = nil) {
        send(.configured(rules))
        if let network { send(.network(network)) }
    }

    func send(_ event: OnDemandEvent) { actions += machine.handle(event, at: now) }

    /// Lets time pass, deadline by deadline.
    func advance(_ duration: Duration) {
        let end = now + duration
        while let next = machine.nextDeadline, next <= end {
            now = max(now, next)
            actions += machine.handleDeadline(at: now)
        }
        now = end
    }

    /// The session comes up.
    func connect() {
        send(.sessionBegan)
        send(.sessionConnected)
    }

    /// What was wanted since the last call.
    func take() -> [OnDemandAction] {
        defer { actions = [] }
        return actions
    }
}
