/// What a client's driver has to do, in the order in which it is polled.
public enum ClientAction: Sendable, Hashable {
    /// Send a message to the gateway, inside of its session: ``ControlPacket/make(message:from:to:)`` makes the packet.
    case send([UInt8])
    /// Replace the network settings as a whole, and answer with ``ClientMachine/handleApplied(_:succeeded:now:)``.
    ///
    /// There is never a second one before that answer.
    case apply(id: UInt64, DesiredSettings)
    /// The tunnel may report that it is up.
    case startCompleted
    /// The tunnel does not start.
    case startFailed(StartFailure)
    /// The tunnel reasserts, or no longer does.
    case reasserting(Bool)
    /// The gateway wants the client to leave.
    case leave(GoAway)
    /// The lease is given back, or the gateway does not answer: the tunnel may go.
    case released
    /// Something for the log: one line a change, never one a message.
    case note(ClientNote)
}

/// The settings that are to be in force as a whole.
public enum DesiredSettings: Sendable, Hashable {
    /// Nothing but the profile's own addresses.
    case bare
    /// What the profile itself says.
    case profile
    /// What the gateway said and the filter let through.
    case pushed(SnapshotVersion, FilterOutcome)

    /// The snapshot that they come from.
    public var version: SnapshotVersion? {
        switch self {
        case .bare, .profile: nil
        case .pushed(let version, _): version
        }
    }
}

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

/// A change that is worth a line in the log.
public enum ClientNote: Sendable, Hashable {
    /// The gateway does not speak the protocol, or is silent.
    case unsupported
    /// The gateway gives this client nothing now.
    case notGranted(HelloAcknowledgement.Answer)
    /// A snapshot was offered and its end is this.
    case finished(SettingsResult)
    /// A snapshot older than one that was seen was ignored.
    case staleSerial(UInt64)
    /// The same serial came with other content, and is fetched anew.
    case serialConflict(UInt64)
    /// Too many changes in a minute: the next one waits.
    case heldBack
    /// The lease ended without an answer.
    case leaseExpired
}
