internal import Netlink
internal import NetworkSettings
internal import ProviderKit

/// What processes that were killed have left behind, as the next start finds it.
extension LinuxInterface {
    /// Takes back what a process that was killed left on an interface, or on none that is there.
    ///
    /// - Parameters:
    ///   - name: The interface.
    ///   - effects: The kernel.
    /// - Returns: What was taken back, or could not be, as lines for the log.
    /// - Throws: `NetlinkError` when the kernel cannot be asked.
    static func sweep(_ name: String, _ effects: SystemEffects) throws -> [String] {
        let sweep = try SettingsSweep.interface(name, effects)
        var remarks = sweep.failures
        if !sweep.removed.isEmpty {
            remarks.append("Removed what an earlier process left: \(sweep.removed.count) rules and routes.")
        }
        do throws(ResolverError) {
            let swept = try SystemResolver.sweep { interface in
                interface == name || effects.lacks(interface)
            }
            if !swept.isEmpty {
                remarks.append("Took back DNS that an earlier process left: \(swept.joined(separator: ", ")).")
            }
        } catch {
            remarks.append("\(error)")
        }
        return remarks
    }

    /// Ends what the kill switch of an earlier process on this name still holds back, unless ours is in its place, and tells
    /// of those whose own tunnel has not come back: they guard it until somebody decides.
    ///
    /// Whatever else is left in the packet filter keeps nothing in, and ends.
    static func sweepFilter(
        _ name: String, _ filter: NftablesProgram, _ tables: [FilterTableName], _ effects: SystemEffects,
        isGuarded: Bool
    ) -> [String] {
        do throws(FilterError) {
            let isLeft = { (interface: String) in interface == name || effects.lacks(interface) }
            let guards = tables.filter { $0.purpose == .guardian }
            let stale = isGuarded ? [] : guards.filter { $0.interface == name }
            try filter.replace(stale + tables.filter { $0.purpose == .replies && isLeft($0.interface) }, with: [])
            let hasTranslations = tables.contains { $0.purpose == .masquerade || $0.purpose == .forward }
            let translations = hasTranslations ? try Masquerade.sweep(filter, effects, isLeft) : []
            let orphans = Set(guards.map(\.interface).filter { $0 != name && effects.lacks($0) })
            return (stale.isEmpty ? [] : ["Ended the kill switch that an earlier process left on \(name)."])
                + Set(translations.map(\.interface)).sorted().map {
                    "Ended the address translation that an earlier process left for \($0)."
                }
                + orphans.sorted().map {
                    "The kill switch of \($0), whose process is gone, is in force; `providerhost sweep` ends it."
                }
        } catch {
            return [error.cause]
        }
    }
}
