/// What a gateway offers, or why it does not.
public struct HelloAcknowledgement: Sendable, Hashable {
    /// The nonce of the HELLO.
    public var nonce: UInt64
    /// The sections that the gateway understands.
    public var capabilities: Capabilities
    /// What the gateway answers.
    public var answer: Answer

    /// Makes an answer to a HELLO.
    public init(nonce: UInt64, capabilities: Capabilities, answer: Answer) {
        self.nonce = nonce
        self.capabilities = capabilities
        self.answer = answer
    }

    /// What a gateway answers to a HELLO.
    public enum Answer: Sendable, Hashable {
        /// There is a snapshot, as it is where it fits 900 bytes.
        case offer(SnapshotVersion, byteCount: UInt32, lease: LeaseDuration, inline: [UInt8]?)
        /// The client holds the current snapshot; the lease begins anew.
        case unchanged(SnapshotVersion, lease: LeaseDuration)
        /// This client gets none.
        case refused(ReasonCode)
        /// No address is left for this client.
        case poolExhausted(retryAfterSeconds: UInt32)
        /// The gateway cannot say now.
        case busy(retryAfterSeconds: UInt32)
    }

    /// The largest snapshot that travels in the answer itself.
    static let inlineByteCount = 900
}
