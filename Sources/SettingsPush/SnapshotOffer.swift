/// What a registry answers to a peer that asks for its settings.
public enum SnapshotOffer: Sendable, Hashable {
    /// The current snapshot, for as long as the lease lasts.
    case snapshot(PublishedSnapshot, lease: LeaseDuration)
    /// This peer gets none.
    case refused(ReasonCode)
    /// No address is left for this peer.
    case poolExhausted(retryAfterSeconds: UInt32)
    /// The registry cannot say now.
    case busy(retryAfterSeconds: UInt32)
}
