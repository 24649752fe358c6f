public import ProviderKit
public import SettingsPush
public import WireGuard

extension RegistryContents {
    /// Pushes a route to the peers of a scope.
    ///
    /// - Throws: ``RegistryError`` that names the value at fault.
    public mutating func addRoute(
        _ prefix: IPPrefix, _ kind: RouteKind, for scope: PushScope
    ) throws(RegistryError) {
        try check(scope)
        if prefix.length > 0 { try prefix.requireRoutable() }
        var profile = profiles[scope] ?? PushProfile()
        guard profile[kind].contains(prefix) || profile[kind].count < Self.maximumRoutes else {
            throw RegistryError(
                .tooMany, cause: "At most \(Self.maximumRoutes) routes of a kind are pushed to \(scope).")
        }
        let before = profiles[scope]
        profile[kind].insert(prefix)
        profiles[scope] = profile
        do {
            for name in names(in: scope) { try checkRouteCount(of: name) }
        } catch {
            profiles[scope] = before
            throw error
        }
    }

    /// Takes a route back from the peers of a scope.
    ///
    /// - Throws: ``RegistryErrorCode/unknownRoute`` or ``RegistryErrorCode/unknownPeer``.
    public mutating func removeRoute(
        _ prefix: IPPrefix, _ kind: RouteKind, for scope: PushScope
    ) throws(RegistryError) {
        try check(scope)
        var profile = profiles[scope] ?? PushProfile()
        guard profile[kind].remove(prefix) != nil else {
            throw RegistryError(.unknownRoute, cause: "No route \(prefix) is pushed to \(scope).")
        }
        put(profile, for: scope)
    }

    /// Every route that is pushed, sorted by scope, kind and network.
    public var routes: [(scope: PushScope, kind: RouteKind, prefix: IPPrefix)] {
        sortedScopes.flatMap { scope in
            RouteKind.allCases.flatMap { kind in
                (profiles[scope]?[kind] ?? []).sorted { $0.precedes($1) }.map { (scope, kind, $0) }
            }
        }
    }

    /// The scopes that have a profile: the gateway, groups, peers, each by name.
    public var sortedScopes: [PushScope] { profiles.keys.sorted { $0.sortKey < $1.sortKey } }

    /// Sets or, with nil, clears the resolvers of a scope.
    ///
    /// - Throws: ``RegistryErrorCode/unknownPeer`` or ``RegistryErrorCode/invalidName``.
    public mutating func setDNS(_ dns: DNSOffer?, for scope: PushScope) throws(RegistryError) {
        try check(scope)
        var profile = profiles[scope] ?? PushProfile()
        profile.dns = dns
        put(profile, for: scope)
    }

    /// Sets or, with nil, clears the MTU of a scope; that of the gateway itself is always there.
    ///
    /// - Throws: ``RegistryErrorCode/invalidValue``, ``RegistryErrorCode/unknownPeer`` or ``RegistryErrorCode/invalidName``.
    public mutating func setMTU(_ mtu: Int?, for scope: PushScope) throws(RegistryError) {
        try check(scope)
        if let mtu { try Self.checkMTU(mtu) }
        var profile = profiles[scope] ?? PushProfile()
        profile.mtu = mtu
        put(profile, for: scope)
    }

    /// Refuses more routes than a snapshot has room for; one that two scopes have counts twice.
    func checkRouteCount(of name: String) throws(RegistryError) {
        guard let peer = peers[name] else { return }
        for kind in RouteKind.allCases {
            let count = scopes(of: peer).reduce(pools.count) { $0 + (profiles[$1]?[kind].count ?? 0) }
            guard count <= Self.maximumRoutes else {
                throw RegistryError(
                    .tooMany, cause: "`\(name)` would get \(count) routes, more than \(Self.maximumRoutes).")
            }
        }
    }

    /// The scopes that a peer is in, the narrowest first.
    func scopes(of peer: GatewayPeer) -> [PushScope] {
        [.peer(peer.name)] + (peer.group.map { [.group($0)] } ?? []) + [.gateway]
    }

    private mutating func put(_ profile: PushProfile, for scope: PushScope) {
        profiles[scope] = profile.isEmpty ? nil : profile
    }

    /// Refuses a scope that cannot be: a peer that is not there, a group without a valid name.
    func check(_ scope: PushScope) throws(RegistryError) {
        switch scope {
        case .gateway: break
        case .group(let group): try RegistryName.check(group, of: "group")
        case .peer(let name): _ = try peer(name)
        }
    }
}
