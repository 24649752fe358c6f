internal import NetworkSettings
internal import ProviderKit

/// What a manager that was killed left on the machine.
enum Leftovers {
    /// Removes rules and routes of ours that belong to no interface; interfaces went with their workers.
    ///
    /// - Returns: What was removed or could not be, as lines for the log.
    static func sweep() throws -> [String] {
        // No interface has this name, so only what belongs to none is swept: another `run` may be at work.
        let sweep = try SettingsSweep.interface("", SystemEffects())
        let removed = sweep.removed.count
        return (removed > 0 ? ["Removed what a manager that was killed left: \(removed) rules and routes."] : [])
            + sweep.failures
    }
}
