public import ProviderKit

/// What the rules of one configuration came to in one network.
public struct OnDemandDecision: Sendable, Equatable {
    /// Why.
    public enum Reason: Sendable, Equatable {
        /// The rule at this index is the first that matches.
        case rule(Int, OnDemandRule)
        /// No rule matches.
        case noRule
        /// No interface leads out of the machine.
        case noNetwork
        /// The interface that leads out of the machine is a tunnel of somebody else, for which rules are not evaluated.
        case foreignTunnel
    }

    public let reason: Reason
    /// The network that was looked at.
    public let network: NetworkSnapshot
    public let time: ContinuousClock.Instant

    /// What is done; nil for nothing.
    public var action: OnDemandRuleAction? {
        guard case .rule(_, let rule) = reason else { return nil }
        return rule.action
    }
}
