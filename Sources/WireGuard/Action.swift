/// What the control half decided; drained with `Device.pollAction` and handed to `Transport.apply` in order.
public enum Action: Sendable {
    /// Where a handshake message goes.
    public enum Target: Sendable, Hashable {
        /// To the peer's present endpoint; counted as sent to it.
        case peer(PeerIndex)
        /// To an address that asked for it: a cookie reply.
        case address(Endpoint)
    }

    /// A peer was added.
    case addPeer(PeerIndex, Endpoint?)
    /// A peer was removed.
    case removePeer(PeerIndex)
    /// A peer's endpoint was configured.
    case setEndpoint(PeerIndex, Endpoint)
    /// A handshake message of at most 148 bytes.
    case transmit([UInt8], Target)
    /// An authentic handshake message came: endpoint, bytes, stamps.
    case noteReceived(PeerIndex, bytes: Int, from: Endpoint)
    /// A handshake gave a keypair.
    case install(PeerIndex, KeypairHandle)
    /// All sessions of the peer end now.
    case expireKeys(PeerIndex)
    /// The peer does not answer: its staged packets are dropped, no keepalive is owed, and new packets begin anew.
    case giveUp(PeerIndex)
    /// The silence after sent data was acted on.
    case clearAwaitedReply(PeerIndex)
    /// A keepalive is due.
    case sendKeepalive(PeerIndex)
    /// A session is there: staged packets can go.
    case flushStaged(PeerIndex, keepaliveIfEmpty: Bool)
    /// No session can come: staged packets are to be dropped.
    case dropStaged(PeerIndex)
}
