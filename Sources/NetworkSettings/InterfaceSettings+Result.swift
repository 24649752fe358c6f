import Netlink
import ProviderKit

/// What came of a plan.
extension InterfaceSettings {
    /// The result of a plan that was carried out, without any shortfall.
    func describe(_ plan: SettingsPlan, _ desired: DesiredState?, changed: Bool) -> SettingsResult {
        let table = slot.table(side: plan.result.side)
        return SettingsResult(
            changed: changed, mtu: plan.result.mtu,
            table: plan.result.routes.contains { $0.table == table } ? table : plan.result.routes.first?.table,
            addressCount: desired?.addresses.count ?? 0, routeCount: plan.result.routes.count,
            ruleCount: plan.result.rules.count, leadsDefault: desired?.leadsDefault ?? false, shortfalls: [])
    }

    /// That an MTU which follows from the way out is larger than that carries, because a family needs more.
    func shortMTU(_ plan: SettingsPlan, _ desired: DesiredState?, _ underlayMTU: Int?) -> SettingsShortfall? {
        guard let desired, case .underlay(let overhead) = desired.mtu, plan.result.mtu == desired.leastMTU,
            let way = try? underlayMTU ?? findUnderlayMTU(), way - overhead < desired.leastMTU
        else { return nil }
        let family = desired.usesIPv6 ? "IPv6" : "IPv4"
        return SettingsShortfall(
            part: "mtu",
            cause: "The way out carries packets of \(way) bytes, which leaves \(way - overhead) in the tunnel, and "
                + "\(family) takes \(desired.leastMTU): larger packets leave in fragments, or are lost.",
            remedy: "Raise the MTU of the way out to \(desired.leastMTU + overhead)"
                + (desired.usesIPv6 ? ", or use IPv4 only in the tunnel." : "."))
    }

    /// That exclusions have no effect in the table that was asked for.
    func lostExclusions(_ plan: SettingsPlan, _ desired: DesiredState?) -> SettingsShortfall? {
        guard let desired else { return nil }
        let layout = PolicyLayout(desired, interface: link.index, slot: slot, side: plan.result.side, mark: mark)
        return layout.unexpressed.map { reason in
            SettingsShortfall(
                part: "excludedRoutes", cause: "Not applied: \(reason).",
                remedy: "Let the tunnel have a table of its own.")
        }
    }
}
