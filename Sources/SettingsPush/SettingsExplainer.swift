public import WireGuard

/// Answers `settings why`: looks a network or name up in what was offered and decided.
public struct SettingsExplainer: Sendable {
    /// The gateway as a person knows it, and the serial: "gateway office, serial 7".
    public let offeredBy: String
    /// What the filter made of the snapshot.
    public let outcome: FilterOutcome

    /// Makes an explainer of one outcome.
    public init(gateway: String, version: SnapshotVersion, outcome: FilterOutcome) {
        offeredBy = "gateway \(gateway), serial \(version.serial)"
        self.outcome = outcome
    }

    /// Every decision, as an explanation: `settings show`.
    public var all: [Explanation] { outcome.decisions.map { $0.explanation(offeredBy: offeredBy) } }

    /// What was decided about a network: about everything offered that covers it or lies in it.
    ///
    /// - Returns: At least one explanation; that nothing was offered where that is so.
    public func why(_ prefix: IPPrefix) -> [Explanation] {
        let decided = outcome.decisions.filter { decision in
            switch decision.subject {
            case .route(let other), .exclude(let other): other.overlaps(prefix)
            case .address(let address): prefix.contains(address.address)
            case .server(let server): prefix.contains(server.address)
            case .searchDomain, .matchDomain, .allNames, .mtu, .notice, .section: false
            }
        }
        guard decided.isEmpty else { return decided.map { $0.explanation(offeredBy: offeredBy) } }
        return [notOffered("\(prefix)", "providerhost gateway route add \(prefix)")]
    }

    /// What was decided about a name: about every domain offered that it lies in, and about the resolvers.
    ///
    /// - Returns: At least one explanation; that nothing was offered where that is so.
    public func why(_ name: DomainName) -> [Explanation] {
        let domains = outcome.decisions.filter { decision in
            switch decision.subject {
            case .searchDomain(let domain), .matchDomain(let domain): name.isInside(domain)
            case .allNames: true
            case .address, .route, .exclude, .server, .mtu, .notice, .section: false
            }
        }
        guard !domains.isEmpty else { return [notOffered("\(name)", "providerhost gateway dns")] }
        let servers = outcome.decisions.filter { if case .server = $0.subject { true } else { false } }
        return (domains + servers).map { $0.explanation(offeredBy: offeredBy) }
    }

    private func notOffered(_ subject: String, _ command: String) -> Explanation {
        Explanation(
            subject: subject, offeredBy: nil, reason: nil, detail: "the last offer is that of \(offeredBy)",
            remedy: "At the gateway, `\(command)` would offer it.")
    }
}
