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
