import Netlink

extension SettingsPlan {
    /// What a plan is made for.
    struct Target {
        var slot: PolicySlot
        var mark: UInt32
        var desired: DesiredState?
        /// The MTU in bytes; nil with `desired`.
        var mtu: Int?
        var filter: [FilterTable]
    }

    /// Make before break: the new state is complete and in force before the old one goes.
    static func make(from old: AppliedState, to target: Target, observed: Observation) -> SettingsPlan {
        var plan = SettingsPlan(result: AppliedState())
        let index = observed.link.index
        let (layout, side) = layout(old, target, interface: index)
        let wanted = (target.desired?.addresses ?? []).map {
            InterfaceAddress(interface: index, address: $0.address, prefixLength: $0.length)
        }
        let owned = Set(old.addresses)
        let present = Set(observed.addresses.map(\.identity))
        let adding = wanted.filter { !present.contains($0.identity) }
        let going = old.addresses.filter { !wanted.contains($0) }
        // To the kernel an IPv6 address is the same whatever its prefix length, so here the old one must go first.
        let inTheWay = going.filter { old in
            old.address.family == .ipv6 && wanted.contains { $0.address == old.address }
        }
        let removing = going.filter { !inTheWay.contains($0) }
        plan.result.addresses = wanted.filter { owned.contains($0) || !present.contains($0.identity) }
        plan.result.routes = layout.routes
        plan.result.rules = layout.rules
        plan.result.side = side
        plan.result.mtu = target.mtu

        let changesIPv4 = (adding + removing).contains { $0.address.family == .ipv4 }
        plan.addWayBack(old, includesRoutes: changesIPv4)
        plan.setSysctls(old, target, layout, observed)
        plan.prepareLink(old, target, observed.link)
        plan.batch(
            "add addresses",
            inTheWay.map { Move(request: .deleteAddress($0), inverse: .addAddress($0)) }
                + adding.map { Move(request: .addAddress($0), inverse: .deleteAddress($0)) })
        plan.batch(
            "clear the spare table",
            observed.leftovers.map { Move(request: .deleteRoute($0), inverse: .replaceRoute($0)) })
        plan.changeRoutes(old.routes, layout.routes)
        // New routes are guarded before they are in force, and the guard is the last to go.
        if !target.filter.isEmpty { plan.setFilter(old.filter, target.filter) }
        plan.batch(
            "add rules",
            layout.rules.filter { !old.rules.contains($0) }.map {
                Move(request: .addRule($0), inverse: .deleteRule($0))
            })
        // The new way to the new servers stands, and so does the old way to the old ones.
        plan.setResolver(old.resolver, target.desired?.resolver)
        plan.batch(
            "remove the old rules",
            old.rules.reversed().filter { !layout.rules.contains($0) }.map {
                Move(request: .deleteRule($0), inverse: .addRule($0))
            })
        plan.removeRoutes(old.routes, layout.routes)
        plan.batch(
            "remove the old addresses", removing.map { Move(request: .deleteAddress($0), inverse: .addAddress($0)) })
        if changesIPv4, !wanted.contains(where: { $0.address.family == .ipv4 }) {
            // With the last IPv4 address of an interface the kernel drops all its IPv4 routes, ours too.
            let dropped = layout.routes.filter { $0.destination.family == .ipv4 && $0.interface != nil }
            plan.batch("add routes again", dropped.map { Move(request: .replaceRoute($0)) })
        }
        plan.settleLink(old, target, observed.link)
        plan.restoreSysctls(old, target, layout, observed)
        if target.filter.isEmpty { plan.setFilter(old.filter, []) }
        return plan
    }

    /// The layout in the table that is in use if nothing changes there, else in the other table.
    private static func layout(_ old: AppliedState, _ target: Target, interface: UInt32) -> (PolicyLayout, Int) {
        guard let desired = target.desired else { return (PolicyLayout(), old.side) }
        func at(_ side: Int) -> PolicyLayout {
            PolicyLayout(desired, interface: interface, slot: target.slot, side: side, mark: target.mark)
        }
        let same = at(old.side)
        let inUse = old.routes.contains { $0.table == target.slot.table(side: old.side) }
        guard inUse, desired.routing.isAutomatic, Set(same.routes) != Set(old.routes) else { return (same, old.side) }
        return (at(1 - old.side), 1 - old.side)
    }

    mutating func batch(_ purpose: String, _ moves: [Move]) {
        if !moves.isEmpty { steps.append(Step(purpose: purpose, action: .batch(moves))) }
    }

    private mutating func setFilter(_ old: [FilterTable], _ new: [FilterTable]) {
        result.filter = new
        guard old != new else { return }
        steps.append(
            Step(
                purpose: new.isEmpty ? "clear the packet filter" : "set the packet filter",
                action: .filter(from: old, to: new)))
    }

    private mutating func setResolver(_ old: ResolverConfiguration?, _ new: ResolverConfiguration?) {
        result.resolver = new
        guard old != new else { return }
        steps.append(
            Step(purpose: new == nil ? "take DNS back" : "set DNS", action: .resolver(from: old, to: new)))
    }

    /// What undoing must put back because the kernel drops it along with other things: done last on the way back.
    private mutating func addWayBack(_ old: AppliedState, includesRoutes: Bool) {
        let routes = includesRoutes ? old.routes.filter { $0.destination.family == .ipv4 } : []
        batch(
            "restore the earlier state",
            routes.map { Move(inverse: .replaceRoute($0)) }
                + old.addresses.reversed().map { Move(inverse: .addAddress($0)) })
    }

    /// Adds what is new; where an old route of ours has the same place in the table, replaces it.
    private mutating func changeRoutes(_ old: [Route], _ new: [Route]) {
        let kept = Set(old)
        let places = Dictionary(old.map { ($0.place, $0) }, uniquingKeysWith: { first, _ in first })
        batch(
            "add routes",
            new.filter { !kept.contains($0) }.map { route in
                guard let earlier = places[route.place] else {
                    return Move(request: .addRoute(route), inverse: .deleteRoute(route))
                }
                return Move(request: .replaceRoute(route), inverse: .replaceRoute(earlier))
            })
    }

    /// Removes in the reverse order of adding, so that exclusions and the backstop outlast what they guard.
    private mutating func removeRoutes(_ old: [Route], _ new: [Route]) {
        let places = Set(new.map(\.place))
        batch(
            "remove the old routes",
            old.reversed().filter { !places.contains($0.place) }.map {
                Move(request: .deleteRoute($0), inverse: .replaceRoute($0))
            })
    }
}

extension InterfaceAddress {
    /// What makes two addresses the same to the kernel.
    struct Identity: Hashable {
        var address: IPAddress
        var length: Int
    }

    var identity: Identity { Identity(address: address, length: prefixLength) }
}

extension Route {
    /// What the kernel allows one route for.
    struct Place: Hashable {
        var destination: IPPrefix
        var table: UInt32
        var metric: UInt32
    }

    var place: Place { Place(destination: destination, table: table, metric: metric) }
}
