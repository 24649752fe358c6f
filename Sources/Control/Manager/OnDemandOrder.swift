public import ProviderKit

/// Looks at the order of on-demand rules: the first that matches decides, so that a rule can hide those behind it.
public enum OnDemandOrder {
    /// What is probably not meant, with the rules by number and what to do.
    public static func warnings(about rules: [OnDemandRule]) -> [String] {
        guard let first = rules.firstIndex(where: \.alwaysMatches) else { return [] }
        let hidden = rules.indices.filter { $0 > first }
        let disconnects = hidden.filter { rules[$0].action == .disconnect }
        if rules[first].action == .connect, let disconnect = disconnects.first {
            return [
                "Rule \(first + 1) (connect anywhere) stands before rule \(disconnect + 1) (disconnect), which never "
                    + "decides: the tunnel connects again at once after a manual disconnect. "
                    + "Put rule \(disconnect + 1) before rule \(first + 1)."
            ]
        }
        guard let other = hidden.first else { return [] }
        return [
            "Rule \(first + 1) always matches, so rule \(other + 1) never decides. "
                + "Put rule \(other + 1) before rule \(first + 1), or remove it."
        ]
    }
}

extension OnDemandRule {
    /// Whether the rule has no condition at all.
    fileprivate var alwaysMatches: Bool {
        interfaceTypeMatch == .any && ssidMatch == nil && dnsSearchDomainMatch == nil && dnsServerAddressMatch == nil
            && probeURL == nil
    }
}
