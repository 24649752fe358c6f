import WireGuard

/// Rules 2 to 5 for routes and exclusions.
extension PolicyFilter {
    /// A part of an offered route that no rule has refused so far.
    private struct Candidate {
        let index: Int
        let prefix: IPPrefix
    }

    func filterRoutes(_ outcome: inout FilterOutcome) {
        var candidates: [Candidate] = []
        for (index, route) in outcome.snapshot.routes.enumerated() {
            if let reason = NeverAllowed.reason(against: route, controlAddresses: context.controlAddresses) {
                outcome.decide(.routes, index, .route(route), reason)
                continue
            }
            candidates += narrowed(route, index, &outcome)
        }
        candidates = withoutDefaults(candidates.filter { isPermitted($0, &outcome) }, &outcome)
        for candidate in candidates where !staysLocal(candidate, &outcome) {
            guard outcome.settings.routes.count < policy.maxRoutes else {
                refuse(candidate, .tooManyRoutes, "\(policy.maxRoutes)", &outcome)
                continue
            }
            outcome.settings.routes.append(candidate.prefix)
            outcome.decide(.routes, candidate.index, .route(candidate.prefix), .accepted)
        }
        blockFamilyWithoutDefault(&outcome)
    }

    /// Rule 2: what of a route lies inside the peer's AllowedIPs.
    private func narrowed(_ route: IPPrefix, _ index: Int, _ outcome: inout FilterOutcome) -> [Candidate] {
        let parts = context.ceiling.contains { $0.covers(route) } ? [route] : context.ceiling.filter(route.covers)
        guard !parts.isEmpty else {
            outcome.decide(.routes, index, .route(route), .outsideCeiling)
            return []
        }
        if parts != [route] {
            let list = parts.prefix(4).map(\.description).joined(separator: ", ")
            outcome.decide(.routes, index, .route(route), .narrowedToCeiling, list)
        }
        return parts.map { Candidate(index: index, prefix: $0) }
    }

    /// Rule 3 and the profile's lists.
    private func isPermitted(_ candidate: Candidate, _ outcome: inout FilterOutcome) -> Bool {
        let prefix = candidate.prefix
        // The longest prefix decides: a default route takes nothing from a peer that has more than one.
        let owner = context.otherPeers.first { peer in
            peer.ceiling.contains { $0 == prefix || prefix.length > 0 && $0.overlaps(prefix) }
        }
        if let owner { return refuse(candidate, .ownedByAnotherPeer, owner.name, &outcome) }
        if let accepted = policy.acceptRoutes, !accepted.contains(where: { $0.covers(prefix) }) {
            return refuse(candidate, .notInAcceptRoutes, nil, &outcome)
        }
        if let denied = policy.denyRoutes.first(where: { $0.covers(prefix) }) {
            return refuse(candidate, .inDenyRoutes, "\(denied)", &outcome)
        }
        for denied in policy.denyRoutes where prefix.covers(denied) {
            exclude(denied, &outcome)
            outcome.decide(.routes, candidate.index, .route(prefix), .narrowedByDenyRoutes, "\(denied)")
        }
        return true
    }

    /// Rule 4: without consent the widest routes go until what is left amounts to no default route.
    private func withoutDefaults(_ candidates: [Candidate], _ outcome: inout FilterOutcome) -> [Candidate] {
        guard !policy.acceptDefaultRoute else { return candidates }
        var kept = candidates
        for isIPv4 in [true, false] {
            while true {
                let family = kept.map(\.prefix).filter { $0.isIPv4 == isIPv4 }
                guard IPPrefix.amountToDefault(family), let widest = family.map(\.length).min() else { break }
                for candidate in kept where candidate.prefix.isIPv4 == isIPv4 && candidate.prefix.length == widest {
                    refuse(candidate, .defaultRoute, nil, &outcome)
                }
                kept.removeAll { $0.prefix.isIPv4 == isIPv4 && $0.prefix.length == widest }
            }
        }
        return kept
    }

    private func blockFamilyWithoutDefault(_ outcome: inout FilterOutcome) {
        guard policy.blockOtherFamily else { return }
        let routes = outcome.settings.routes
        let hasIPv4 = IPPrefix.amountToDefault(routes.filter(\.isIPv4))
        let hasIPv6 = IPPrefix.amountToDefault(routes.filter { !$0.isIPv4 })
        if hasIPv4, !hasIPv6 { outcome.settings.blockedFamilies = .ipv6 }
        if hasIPv6, !hasIPv4 { outcome.settings.blockedFamilies = .ipv4 }
    }

    /// Rule 5: whether a route gives way to a network that this machine is connected to.
    ///
    /// Only private networks stay local: a public one on the link may be a trap for traffic (CVE-2023-36672).
    private func staysLocal(_ candidate: Candidate, _ outcome: inout FilterOutcome) -> Bool {
        let prefix = candidate.prefix
        for network in context.connectedNetworks where network.prefix.overlaps(prefix) {
            let detail = "\(network.prefix) on \(network.interface)"
            let covers = prefix.covers(network.prefix)
            // Where nothing may leave beside the tunnel, a local network that stayed outside would be out of reach.
            let isKeptIn = policy.enforceRoutes || policy.includeAllNetworks && !policy.excludeLocalNetworks
            // A route to a part of a network is what a gateway with a wide private network in its way needs.
            let yields = !isKeptIn && Self.isPrivate(network.prefix) && (covers || policy.excludeLocalNetworks)
            if yields, prefix == network.prefix || !covers {
                refuse(candidate, .localNetwork, detail, &outcome)
                return true
            }
            if yields { exclude(network.prefix, &outcome) }
            // What a default route covers anyway needs no remark for each network.
            guard prefix.length > 0 else { continue }
            let reason: ReasonCode = yields ? .localNetworkExcepted : .overridesLocalNetwork
            outcome.decide(.routes, candidate.index, .route(prefix), reason, detail)
        }
        return false
    }

    func filterExcludes(_ outcome: inout FilterOutcome) {
        for (index, prefix) in outcome.snapshot.excludes.enumerated() {
            var reason = NeverAllowed.reason(against: prefix, controlAddresses: context.controlAddresses) ?? .accepted
            if policy.includeAllNetworks || policy.enforceRoutes || prefix.length == 0 { reason = .exclusionForbidden }
            outcome.decide(.excludes, index, .exclude(prefix), reason)
            if reason == .accepted { exclude(prefix, &outcome) }
        }
    }

    private func exclude(_ prefix: IPPrefix, _ outcome: inout FilterOutcome) {
        guard !outcome.settings.excludes.contains(prefix) else { return }
        outcome.settings.excludes.append(prefix)
    }

    @discardableResult
    private func refuse(
        _ candidate: Candidate, _ reason: ReasonCode, _ detail: String?, _ outcome: inout FilterOutcome
    ) -> Bool {
        outcome.decide(.routes, candidate.index, .route(candidate.prefix), reason, detail)
        return false
    }

    private static let privateNetworks = [
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7", "fe80::/10",
    ].compactMap { IPPrefix($0) }

    private static func isPrivate(_ prefix: IPPrefix) -> Bool { privateNetworks.contains { $0.covers(prefix) } }
}
