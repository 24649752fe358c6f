import WireGuard

/// Rule 7: resolvers and names.
extension PolicyFilter {
    func filterDNS(_ outcome: inout FilterOutcome) {
        guard let offer = outcome.snapshot.dns, offer.mode != .none else { return }
        guard policy.acceptDNS != .none else {
            decideAll(of: offer, .dnsNotAccepted, &outcome)
            return
        }
        var dns = EffectiveSettings.DNS(servers: [], searchDomains: [], matchDomains: [], capturesAll: false)
        var decisions: [(index: Int, subject: Decision.Subject, reason: ReasonCode)] = []
        for (index, server) in offer.servers.enumerated() {
            let reason = decide(server, outcome.settings)
            if reason == .accepted { dns.servers.append(server.address) }
            decisions.append((index, .server(server), reason))
        }
        var index = offer.servers.count
        for name in offer.searchDomains {
            decisions.append((index, .searchDomain(name), takeSearch(name, into: &dns)))
            index += 1
        }
        for name in offer.matchDomains {
            let isAllowed = isInAllowedZone(name)
            if isAllowed, !dns.matchDomains.contains(name) { dns.matchDomains.append(name) }
            decisions.append((index, .matchDomain(name), isAllowed ? .accepted : .outsideDNSZones))
            index += 1
        }
        if offer.mode == .full {
            dns.capturesAll = maySendAllNames(outcome.settings)
            decisions.append((0, .allNames, dns.capturesAll ? .accepted : .dnsCaptureNotAllowed))
        }
        let isComplete =
            !dns.servers.isEmpty && (dns.capturesAll || !dns.matchDomains.isEmpty || !dns.searchDomains.isEmpty)
        // Servers that no name leads to, and names that no server answers, are of no use and would break resolution.
        for decision in decisions {
            let isUseless = !isComplete && decision.reason.effect != .refused
            outcome.decide(.dns, decision.index, decision.subject, isUseless ? .dnsIncomplete : decision.reason)
        }
        if isComplete { outcome.settings.dns = dns }
    }

    private func decide(_ server: DNSServer, _ settings: EffectiveSettings) -> ReasonCode {
        if let reason = NeverAllowed.reason(against: server.address) { return reason }
        guard server.transport == .plain, server.port == 53 else { return .dnsTransportUnsupported }
        let isInside =
            settings.routes.contains { $0.contains(server.address) }
            && !settings.excludes.contains { $0.contains(server.address) }
        return isInside ? .accepted : .dnsServerUnreachable
    }

    /// A search domain sends what a person types to the gateway: unless allowed, it only chooses the server.
    private func takeSearch(_ name: DomainName, into dns: inout EffectiveSettings.DNS) -> ReasonCode {
        guard isInAllowedZone(name) else { return .outsideDNSZones }
        guard !policy.acceptSearchDomains else {
            dns.searchDomains.append(name)
            return .accepted
        }
        dns.matchDomains.append(name)
        return .searchDowngraded
    }

    private func isInAllowedZone(_ name: DomainName) -> Bool {
        policy.allowedDNSZones?.contains { name.isInside($0) } ?? true
    }

    /// All names may go to the gateway only where all traffic does.
    private func maySendAllNames(_ settings: EffectiveSettings) -> Bool {
        policy.acceptDNS == .full
            && (IPPrefix.amountToDefault(settings.routes.filter(\.isIPv4))
                || IPPrefix.amountToDefault(settings.routes.filter { !$0.isIPv4 }))
    }

    private func decideAll(of offer: DNSOffer, _ reason: ReasonCode, _ outcome: inout FilterOutcome) {
        let subjects =
            offer.servers.map(Decision.Subject.server) + offer.searchDomains.map(Decision.Subject.searchDomain)
            + offer.matchDomains.map(Decision.Subject.matchDomain)
        for (index, subject) in subjects.enumerated() { outcome.decide(.dns, index, subject, reason) }
    }
}
