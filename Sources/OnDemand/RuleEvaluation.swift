public import ProviderKit

/// What the rules say about a network, as far as the answers to probes are known.
public enum RuleEvaluation: Sendable, Equatable {
    /// The rule at this index is the first that matches.
    case match(Int)
    /// Every other condition of a rule holds; whether it matches depends on this URL.
    case needsProbe(String)
    /// No rule matches: nothing is done.
    case noMatch

    /// Evaluates rules in their order; a probe is asked for only once all else of its rule holds.
    ///
    /// - Parameters:
    ///   - rules: The rules.
    ///   - primary: The interface that leads out of the machine.
    ///   - snapshot: The network around it.
    ///   - probes: Whether the URLs that were probed in this network answered with 200.
    public init(
        _ rules: [OnDemandRule], _ primary: NetworkInterface, _ snapshot: NetworkSnapshot, probes: [String: Bool]
    ) {
        for (index, rule) in rules.enumerated() where rule.matches(primary, snapshot) {
            guard let url = rule.probeURL else {
                self = .match(index)
                return
            }
            guard let answer = probes[url] else {
                self = .needsProbe(url)
                return
            }
            if answer {
                self = .match(index)
                return
            }
        }
        self = .noMatch
    }
}
