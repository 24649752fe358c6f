public import WireGuard

/// What a gateway's machine asks of the registry; peers are named by their public keys.
public protocol SnapshotSource {
    /// Answers a peer that asks for its settings: grants or renews its lease, and returns what it is offered.
    ///
    /// - Parameters:
    ///   - peer: Who asks; its session proves the key.
    ///   - families: What the peer can use.
    /// - Returns: The current snapshot and the length of its lease, or why there is none.
    mutating func offer(to peer: PublicKey, families: AddressFamilies) -> SnapshotOffer

    /// The snapshot that a peer is offered at present, without granting anything; nil if there is none.
    mutating func currentSnapshot(of peer: PublicKey) -> PublishedSnapshot?
}

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

/// What a gateway's driver has to do, in the order in which it is polled.
public enum GatewayOutput: Sendable, Hashable {
    /// Send a message to a peer, inside of its session: ``ControlPacket/make(message:from:to:)`` makes the packet.
    case send([UInt8], to: PublicKey)
    /// Keep what a peer says became of a snapshot.
    case result(SettingsResult, of: PublicKey)
    /// Keep that a peer was refused, and why.
    case refused(ReasonCode, PublicKey)
    /// The peer gave its lease back.
    case released(PublicKey)
    /// The peer has the order to leave, or does not answer it.
    case left(PublicKey)
}
