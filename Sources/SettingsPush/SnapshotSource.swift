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
