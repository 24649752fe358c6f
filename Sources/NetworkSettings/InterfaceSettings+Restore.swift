import Netlink
import ProviderKit

extension InterfaceSettings {
    /// Puts back what another program has taken away of the applied state, and returns what that was, as phrases.
    ///
    /// Routes of an interface that somebody has set down cannot be put back, and are left to whoever sets it up again.
    func putBack(
        _ applied: AppliedState, _ filter: (any PacketFilter)?
    ) throws(SettingsApplyError) -> [String] {
        let lost = applied.filter.filter { !(filter?.holds($0) ?? true) }
        if !lost.isEmpty {
            do throws(FilterError) {
                try filter?.replace(applied.filter.map(\.name), with: applied.filter)
            } catch {
                throw SettingsApplyError(step: "set the packet filter again", reason: error.cause)
            }
        }
        let missing: [Request]
        do throws(NetlinkError) { missing = try self.missing(applied) } catch {
            throw SettingsApplyError(step: "read the system's state", underlying: error)
        }
        for (request, outcome) in zip(missing, effects.submit(missing)) {
            guard let outcome, !request.isSettled(despite: outcome) else { continue }
            throw SettingsApplyError(step: "restore", underlying: outcome)
        }
        let isGuardLost = lost.contains { $0.name.purpose == .guardian }
        let areMarksLost = lost.contains { $0.name.purpose == .replies }
        return (isGuardLost ? ["the kill switch"] : []) + (areMarksLost ? ["the marks of replies"] : [])
            + Self.summary(missing)
    }

    /// The requests that add what is missing, in the order in which it is needed.
    private func missing(_ applied: AppliedState) throws(NetlinkError) -> [Request] {
        let isUp = try effects.link(index: link.index).isUp
        let addresses = Set(try effects.addresses(interface: link.index).map(\.identity))
        var routes: Set<Route> = []
        for table in Set(applied.routes.map(\.table)) { routes.formUnion(try effects.routes(table: table)) }
        let rules = Set(try effects.rules())
        return applied.addresses.filter { !addresses.contains($0.identity) }.map { .addAddress($0) }
            + applied.routes.filter { !routes.contains($0) && (isUp || $0.interface == nil) }.map { .replaceRoute($0) }
            + applied.rules.filter { !rules.contains($0) }.map { .addRule($0) }
    }

    private static func summary(_ requests: [Request]) -> [String] {
        var counts = (addresses: 0, routes: 0, rules: 0)
        for request in requests {
            switch request {
            case .addAddress: counts.addresses += 1
            case .replaceRoute: counts.routes += 1
            default: counts.rules += 1
            }
        }
        return [
            (counts.addresses, "address", "addresses"), (counts.routes, "route", "routes"),
            (counts.rules, "rule", "rules"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.0 == 1 ? $0.1 : $0.2)" }
    }
}
