public import Netlink
public import ProviderKit

/// Settings that could not be applied: the earlier ones are in force again unless `undoFailures` says otherwise.
public struct SettingsApplyError: TunnelError, Hashable {
    /// The step that failed, as a phrase.
    public var step: String
    /// What went wrong in it.
    public var reason: String
    /// What the kernel said, if it was the kernel.
    public var underlying: NetlinkError?
    /// What could not be undone, one phrase each.
    public var undoFailures: [String] = []

    init(step: String, underlying: NetlinkError) {
        self.step = step
        self.underlying = underlying
        reason = underlying.description
    }

    init(step: String, reason: String) {
        self.step = step
        self.reason = reason
    }

    /// Network Extension's domain of settings errors.
    public var errorDomain: String { TunnelProviderErrorCode.domain }

    /// The code of settings that failed to apply.
    public var errorCode: Int { TunnelProviderErrorCode.networkSettingsFailed.rawValue }

    /// The step, the kernel's answer, and what could not be undone.
    public var cause: String {
        let undo = undoFailures.isEmpty ? "" : " Undoing failed too: \(undoFailures.joined(separator: "; "))."
        return "The network settings failed at \"\(step)\": \(reason)\(undo)"
    }

    /// What to do next.
    public var remedy: String {
        undoFailures.isEmpty ? "The earlier settings are in force." : "Stop the tunnel, which removes what is left."
    }
}
