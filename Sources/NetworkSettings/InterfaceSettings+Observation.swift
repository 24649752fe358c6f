import Netlink

extension InterfaceSettings {
    /// The first slot of which no rule and no table is in use.
    static func freeSlot(
        _ effects: any SettingsEffects, _ taken: Set<PolicySlot>
    ) throws(NetlinkError) -> PolicySlot? {
        let rules = try effects.rules()
        for number in PolicySlot.numbers {
            guard let slot = PolicySlot(number: number), !taken.contains(slot),
                !rules.contains(where: { slot.priorities.contains($0.priority) || slot.tables.contains($0.table ?? 0) })
            else { continue }
            var isEmpty = true
            for table in slot.tables where isEmpty { isEmpty = try effects.routes(table: table).isEmpty }
            if isEmpty { return slot }
        }
        return nil
    }

    func observe(_ applied: AppliedState, mayBeGone: Bool) throws(NetlinkError) -> Observation {
        var current = link
        do throws(NetlinkError) {
            current = try effects.link(index: link.index)
        } catch {
            guard mayBeGone, error.kind == .noSuchInterface else { throw error }
        }
        let known = Set(applied.routes)
        var leftovers: [Route] = []
        for table in slot.tables { leftovers += try effects.routes(table: table).filter { !known.contains($0) } }
        var sysctls: [String: String] = [:]
        for name in [SettingsPlan.validMark, SettingsPlan.promoteSecondaries(current.name)] {
            sysctls[name] = effects.sysctl(name)
        }
        return Observation(
            link: current, addresses: try effects.addresses(interface: link.index), rules: try effects.rules(),
            leftovers: leftovers, sysctls: sysctls)
    }

    /// The MTU of the interface of the best default route in the main table; nil if there is none.
    func findUnderlayMTU() throws(NetlinkError) -> Int? {
        let main = try effects.routes(table: Route.mainTable)
        guard let interface = Self.wayOut(main, beside: link.index) else { return nil }
        return try effects.link(index: interface).mtu
    }

    /// The interface of the best default route of the main table that does not lead into the tunnel.
    static func wayOut(_ main: [Route], beside tunnel: UInt32) -> UInt32? {
        let candidates = main.filter { route in
            route.destination.isDefault && route.kind == .unicast && route.interface != tunnel
        }
        // IPv4 first where both exist: most tunnels run over it.
        return candidates.min {
            ($0.destination.family.rawValue, $0.metric) < ($1.destination.family.rawValue, $1.metric)
        }?.interface
    }

    /// Reads back what was applied: a program may interfere, and the kernel may do more than it was asked.
    func verify(_ wanted: AppliedState) throws(SettingsApplyError) {
        let difference: String?
        do throws(NetlinkError) {
            var routes: Set<Route> = []
            for table in Set(slot.tables + wanted.routes.map(\.table)) {
                routes.formUnion(try effects.routes(table: table))
            }
            difference = wanted.difference(
                from: try effects.link(index: link.index), try effects.addresses(interface: link.index), routes,
                try effects.rules(), slot: slot)
        } catch {
            throw SettingsApplyError(step: "verify", underlying: error)
        }
        if let difference { throw SettingsApplyError(step: "verify", reason: difference) }
    }
}

extension AppliedState {
    /// How the system differs from this state, in one sentence; nil if all of it is there and nothing else in the slot.
    func difference(
        from link: Link, _ addresses: [InterfaceAddress], _ routes: Set<Route>, _ rules: [Rule], slot: PolicySlot
    ) -> String? {
        if let mtu, link.mtu != mtu || !link.isUp {
            return "the interface has MTU \(link.mtu), not \(mtu), and is \(link.isUp ? "up" : "down")."
        }
        let present = Set(addresses.map(\.identity))
        if let missing = self.addresses.first(where: { !present.contains($0.identity) }) {
            return "address \(missing) is missing."
        }
        if let missing = self.routes.first(where: { !routes.contains($0) }) { return "route \(missing) is missing." }
        let wanted = Set(self.routes)
        if let extra = routes.first(where: { slot.tables.contains($0.table) && !wanted.contains($0) }) {
            return "route \(extra) was not asked for."
        }
        let found = rules.filter { slot.priorities.contains($0.priority) }
        guard found.count == self.rules.count, Set(found) == Set(self.rules) else {
            return "the rules are \(found.map(\.description)), not \(self.rules.map(\.description))."
        }
        return nil
    }
}
