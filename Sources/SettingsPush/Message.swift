/// One message of WGSP/1: the payload of a UDP datagram inside the tunnel.
public struct Message: Sendable, Hashable {
    /// Chosen by whoever asks; an answer repeats it.
    public var transaction: UInt32
    /// What is said.
    public var body: Body

    /// Makes a message.
    public init(transaction: UInt32, body: Body) {
        self.transaction = transaction
        self.body = body
    }

    /// What a message says, and who says it.
    public enum Body: Sendable, Hashable {
        /// Client: who it is, what it holds.
        case hello(Hello)
        /// Gateway: what it offers.
        case helloAcknowledgement(HelloAcknowledgement)
        /// Client: asks for blocks of a snapshot.
        case get(GetRequest)
        /// Gateway: one block.
        case block(Block)
        /// Client: what became of a snapshot.
        case result(SettingsResult)
        /// Gateway: has the result of this version.
        case resultAcknowledgement(SnapshotVersion)
        /// Gateway: there is a newer snapshot.
        case notify(SnapshotVersion)
        /// Client: gives its lease back.
        case release
        /// Gateway: has the release.
        case releaseAcknowledgement
        /// Gateway: the client is to leave.
        case goAway(GoAway)
        /// Client: leaves.
        case goAwayAcknowledgement
        /// Either: cannot do what was asked.
        case error(ReasonCode)
    }

    static let version: UInt8 = 1
    static let headerByteCount = 16
    /// What fits an inner packet of 1280 bytes behind its IPv6 and UDP headers.
    public static let maximumByteCount = 1280 - ControlPacket.headerByteCount
}
