public import WireGuard

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
