/// One operation of WireGuard's control protocol, as a client asked for it.
public enum ControlRequest: Sendable, Equatable {
    /// What the tunnel is like.
    case get
    /// What the tunnel is like, without any secret but with what was dropped: an operation of our own (`get=view`).
    case view
    /// Which settings are in force, and what became of those that a gateway pushed: another of our own (`get=settings`).
    case settings
    /// Change it.
    case set(ControlSettings)
    /// An operation that is answered with an error and does nothing.
    case refused(isSet: Bool, ControlStatus)

    /// The last lines of the reply to an operation that ended so.
    ///
    /// wg(8) takes the number of a failed `set` as it comes for the negative of an errno, and wants digits only for a `get`.
    public static func trailer(_ status: ControlStatus, isSet: Bool) -> String {
        "errno=\(isSet ? -status.rawValue : status.rawValue)\n\n"
    }
}

/// How an operation of the control protocol ended, by the numbers of errno(3).
public enum ControlStatus: Int, Sendable, Equatable {
    case done = 0
    /// The tunnel is stopping (EIO).
    case failed = 5
    /// More changes than one operation may have (E2BIG).
    case tooMany = 7
    /// A key or a value that the protocol does not have (EINVAL).
    case invalid = 22
    /// The tunnel does not keep what is asked for (EOPNOTSUPP).
    case unsupported = 95
    /// The UDP port, or its mark, cannot be had (EADDRINUSE).
    case portInUse = 98
}
