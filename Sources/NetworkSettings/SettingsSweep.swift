public import Netlink

/// Removes what an earlier process left behind, from the system's state alone.
///
/// Everything of ours can be told by its numbers: rules by priority, shape and protocol, tables by number, other routes by
/// protocol 120. Kernel settings and link properties have no such mark and stay.
public struct SettingsSweep: Hashable, Sendable {
    /// What was removed.
    public var removed: [Request] = []
    /// What could not be removed, as phrases.
    public var failures: [String] = []

    /// Removes everything of ours in the namespace, whichever tunnel it belongs to.
    public static func everything(_ effects: any SettingsEffects) throws(NetlinkError) -> SettingsSweep {
        let routes = try effects.routes(table: nil).filter { isOurs($0) }
        let rules = try effects.rules().filter { PolicySlot.owner(of: $0) != nil }
        return remove(rules, routes, [], effects)
    }

    /// Removes what belongs to an interface, which may be gone, and what belongs to no interface that is there.
    ///
    /// The interface is taken to be ours alone: addresses that are not link-local go too.
    public static func interface(
        _ name: String, _ effects: any SettingsEffects
    ) throws(NetlinkError) -> SettingsSweep {
        do throws(NetlinkError) {
            let index = try effects.link(named: name).index
            return try sweep(index, effects.addresses(interface: index).filter { !$0.address.isLinkLocal }, effects)
        } catch {
            guard error.kind == .noSuchInterface else { throw error }
            return try orphans(effects)
        }
    }

    /// Removes what belongs to no interface that is there: the interface of a session goes with its process.
    public static func orphans(_ effects: any SettingsEffects) throws(NetlinkError) -> SettingsSweep {
        try sweep(nil, [], effects)
    }

    private static func sweep(
        _ index: UInt32?, _ addresses: [InterfaceAddress], _ effects: any SettingsEffects
    ) throws(NetlinkError) -> SettingsSweep {
        let routes = try effects.routes(table: nil).filter { isOurs($0) }
        let owned = Set(try effects.links().filter { $0.index != index }.compactMap(\.alias))
        // A slot lives on the interface of its routes; with the interface go its routes, and the slot is nobody's.
        var users: [UInt32: Set<UInt32>] = [:]
        for route in routes {
            if let user = route.interface { users[route.table, default: []].insert(user) }
        }
        func isSwept(_ slot: PolicySlot) -> Bool {
            let slotUsers = slot.tables.reduce(into: Set<UInt32>()) { $0.formUnion(users[$1] ?? []) }
            return slotUsers.allSatisfy { $0 == index } && !owned.contains(slot.alias)
        }
        let rules = try effects.rules().filter { PolicySlot.owner(of: $0).map(isSwept) ?? false }
        let swept = routes.filter { route in
            guard PolicySlot.tables.contains(route.table) else {
                // An exclusion in a table of the user's choice has no interface: it goes with the table's other routes.
                return route.interface.map { $0 == index } ?? (users[route.table] ?? []).allSatisfy { $0 == index }
            }
            return PolicySlot(number: Int(route.table - PolicySlot.tables.lowerBound) / 2).map(isSwept) ?? false
        }
        return remove(rules, swept, addresses, effects)
    }

    private static func isOurs(_ route: Route) -> Bool {
        PolicySlot.tables.contains(route.table) || route.protocolNumber == ProtocolNumber.providerHost
    }

    /// Rules first, so that no packet meets a half-empty table.
    private static func remove(
        _ rules: [Rule], _ routes: [Route], _ addresses: [InterfaceAddress], _ effects: any SettingsEffects
    ) -> SettingsSweep {
        var sweep = SettingsSweep()
        let requests: [Request] =
            rules.reversed().map { .deleteRule($0) } + routes.map { .deleteRoute($0) }
            + addresses.map { .deleteAddress($0) }
        for (request, outcome) in zip(requests, effects.submit(requests)) {
            switch outcome {
            case nil: sweep.removed.append(request)
            case let error? where !request.isSettled(despite: error): sweep.failures.append(error.description)
            default: break
            }
        }
        return sweep
    }
}
