public import WireGuard

/// Answers `settings why`: looks a network or name up in what is in force, and in what was offered and decided.
public struct SettingsExplainer: Sendable {
    /// The gateway as a person knows it, and the serial: "gateway office, serial 7"; nil without an offer.
    private let offeredBy: String?
    private let report: SettingsReport

    /// Makes an explainer of what a tunnel tells.
    public init(_ report: SettingsReport) {
        self.report = report
        offeredBy = report.offer.map { "gateway \(report.gateway ?? "unknown"), serial \($0.serial)" }
    }

    /// Every decision, as an explanation: `settings diff`.
    public var all: [Explanation] { decisions.map(explain) }

    /// What is known about a network: everything in force or offered that covers it or lies in it.
    ///
    /// - Returns: At least one explanation; that nothing was offered where that is so.
    public func why(_ prefix: IPPrefix) -> [Explanation] {
        let own = report.values.filter { value in
            switch value.kind {
            case .route, .excludedRoute: IPPrefix(value.text).map { $0.overlaps(prefix) } ?? false
            case .address, .server: prefix.contains(addressText: value.text)
            case .searchDomain, .matchDomain, .mtu: false
            }
        }
        let decided = decisions.filter { decision in
            switch decision.subject {
            case .route(let other), .exclude(let other): other.overlaps(prefix)
            case .address(let address): prefix.contains(address.address)
            case .server(let server): prefix.contains(server.address)
            case .searchDomain, .matchDomain, .allNames, .mtu, .notice, .section: false
            }
        }
        let known = explain(own) + decided.map(explain)
        return known.isEmpty ? [notOffered("\(prefix)", "providerhost gateway route add \(prefix)")] : known
    }

    /// What is known about a name: every domain in force or offered that it lies in, and the resolvers.
    ///
    /// - Returns: At least one explanation; that nothing was offered where that is so.
    public func why(_ name: DomainName) -> [Explanation] {
        let own = report.values.filter { value in
            switch value.kind {
            case .searchDomain, .matchDomain:
                value.text == "." || (DomainName(value.text).map { name.isInside($0) } ?? false)
            case .address, .route, .excludedRoute, .server, .mtu: false
            }
        }
        let domains = decisions.filter { decision in
            switch decision.subject {
            case .searchDomain(let domain), .matchDomain(let domain): name.isInside(domain)
            case .allNames: true
            case .address, .route, .exclude, .server, .mtu, .notice, .section: false
            }
        }
        let servers = domains.isEmpty ? [] : decisions.filter { if case .server = $0.subject { true } else { false } }
        let known = explain(own) + (domains + servers).map(explain)
        return known.isEmpty ? [notOffered("\(name)", "providerhost gateway dns set")] : known
    }

    private var decisions: [Decision] { report.offer?.decisions ?? [] }

    private func explain(_ decision: Decision) -> Explanation {
        let place = decision.policyKey.map { key in
            Explanation.Place(key: key, line: report.lines[key], file: report.file)
        }
        return decision.explanation(offeredBy: offeredBy ?? "the gateway", place: place)
    }

    /// What the profile itself has in force; what was pushed is explained by its decision.
    private func explain(_ values: [SettingsReport.Value]) -> [Explanation] {
        values.filter { $0.origin == .profile }.map { value in
            Explanation(
                subject: "\(value.kind.title) \(value.text)", offeredBy: "the profile", reason: .accepted, detail: nil,
                remedy: nil, place: nil)
        }
    }

    private func notOffered(_ subject: String, _ command: String) -> Explanation {
        guard report.gateway != nil else {
            return Explanation(
                subject: subject, offeredBy: nil, reason: nil, detail: "no gateway decides about this tunnel",
                remedy: "Change the profile to have it.", place: nil)
        }
        var detail = offeredBy.map { "the last offer is that of \($0)" } ?? "the gateway has offered nothing so far"
        if report.leftOut > 0 { detail += ", of which \(report.leftOut) accepted parts are not told" }
        return Explanation(
            subject: subject, offeredBy: nil, reason: nil, detail: detail,
            remedy: "At the gateway, `\(command)` would offer it.", place: nil)
    }
}

extension IPPrefix {
    /// Whether an address, with or without a length behind it, lies in the network.
    fileprivate func contains(addressText text: String) -> Bool {
        guard let address = IPAddress(text.prefix { $0 != "/" }) else { return false }
        return contains(address)
    }
}

extension SettingsReport.Kind {
    /// The word that a sentence begins with.
    public var title: String {
        switch self {
        case .address: "Address"
        case .route: "Route"
        case .excludedRoute: "Exclusion"
        case .server: "DNS server"
        case .searchDomain: "Search domain"
        case .matchDomain: "Domain"
        case .mtu: "MTU"
        }
    }
}
