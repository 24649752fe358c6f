/// Timer and message limits of the protocol (whitepaper section 6.1) and of the kernel's implementation.
public enum Limits {
    /// Keypair age after which its initiator starts the next handshake.
    public static let rekeyAfter: TimeSpan = .seconds(120)
    /// Keypair age after which it neither seals nor opens.
    public static let rejectAfter: TimeSpan = .seconds(180)
    /// Least time between two handshake messages of ours to one peer.
    public static let rekeyTimeout: TimeSpan = .seconds(5)
    /// Quiet time after received data that is answered with a keepalive.
    public static let keepaliveTimeout: TimeSpan = .seconds(10)
    /// Retries of an unanswered initiation: REKEY_ATTEMPT_TIME (90 s) in steps of `rekeyTimeout`.
    public static let handshakeRetries: UInt32 = 18
    /// Keypair age at which received data makes its initiator start the next handshake, once.
    public static let rekeyOnReceiveAfter: TimeSpan = .seconds(165)
    /// Time without a new keypair after which all key material of a peer is wiped.
    public static let wipeKeysAfter: TimeSpan = .seconds(540)
    /// Silence after sent data that makes us start a new handshake, before jitter.
    public static let silenceTimeout: TimeSpan = .seconds(15)
    /// Upper bound of the random delay of retransmissions and of the silence timer, in milliseconds.
    public static let maximumJitterMilliseconds: UInt64 = 333
    /// Sealed packets after which the next handshake starts.
    public static let rekeyAfterMessages: UInt64 = 1 << 60
    /// The first counter that must never be used: 2^64 - 2^13 - 1.
    public static let rejectAfterMessages: UInt64 = UInt64.max - (1 << 13)
    /// Age of a cookie secret at which it is replaced.
    public static let cookieSecretAge: TimeSpan = .seconds(120)
    /// Age up to which a received cookie is used, a little less than the sender's secret lives.
    public static let cookieUse: TimeSpan = .seconds(115)
    /// Least time between two initiations accepted from one peer: 50 a second.
    public static let initiationInterval: TimeSpan = .milliseconds(20)
    /// Messages without a cookie that are answered per second under load, from sources that were quiet before: their
    /// crypto takes less than a tenth of a core, and a cookie would cost a new peer the five seconds to its next try.
    static let uncookiedRate: UInt64 = 250
    /// How many of them at once.
    static let uncookiedBurst: UInt64 = 25
    /// How long the load indication outlasts its cause.
    public static let underLoadMemory: TimeSpan = .seconds(1)
}
