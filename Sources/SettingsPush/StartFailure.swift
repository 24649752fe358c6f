/// Why a tunnel that needs a gateway's settings does not start.
public enum StartFailure: Sendable, Hashable {
    /// No answer in time.
    case noAnswer
    /// The gateway gives this client nothing.
    case refused(ReasonCode)
    /// The gateway has no address left.
    case poolExhausted
    /// What the gateway offers cannot be used.
    case rejected([SettingsFinding])
    /// The host could not apply it.
    case applyFailed
}
