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

/// The opening of a conversation.
public struct Hello: Sendable, Hashable {
    /// Random, drawn once per start of the client; the answer repeats it.
    public var nonce: UInt64
    /// The sections that the client understands.
    public var capabilities: Capabilities
    /// How much the client takes.
    public var limits: SnapshotLimits
    /// What it has applied, or ``SnapshotVersion/none``.
    public var holding: SnapshotVersion
    /// The families that the client can use.
    public var families: AddressFamilies

    /// Makes an opening.
    public init(
        nonce: UInt64, capabilities: Capabilities, limits: SnapshotLimits, holding: SnapshotVersion,
        families: AddressFamilies
    ) {
        self.nonce = nonce
        self.capabilities = capabilities
        self.limits = limits
        self.holding = holding
        self.families = families
    }
}

/// The families that a client can use.
public struct AddressFamilies: OptionSet, Sendable, Hashable {
    /// The bits as they are on the wire.
    public let rawValue: UInt8

    /// Makes a set from its bits on the wire.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let ipv4 = AddressFamilies(rawValue: 1)
    public static let ipv6 = AddressFamilies(rawValue: 2)
}

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

/// How long what a snapshot grants is granted, on the client's boot clock.
public struct LeaseDuration: Sendable, Hashable, BitwiseCopyable {
    /// Seconds, 0 for ever, else at least 60.
    public let seconds: UInt32

    /// Makes a duration; 1 to 59 seconds become 60.
    public init(seconds: UInt32) { self.seconds = seconds == 0 ? 0 : max(seconds, 60) }

    /// An hour.
    public static let standard = LeaseDuration(seconds: 3600)
    /// No end.
    public static let permanent = LeaseDuration(seconds: 0)
}

/// Asks for a run of blocks of one snapshot.
public struct GetRequest: Sendable, Hashable {
    /// The snapshot, as the gateway named it.
    public var version: SnapshotVersion
    /// Bytes of each block but the last: ``BlockSize/standard`` or ``BlockSize/small``.
    public var blockSize: BlockSize
    /// The first block, from 0.
    public var first: UInt16
    /// How many blocks, 1 to 64.
    public var count: UInt16

    /// Makes a request.
    public init(version: SnapshotVersion, blockSize: BlockSize, first: UInt16, count: UInt16) {
        self.version = version
        self.blockSize = blockSize
        self.first = first
        self.count = count
    }

    /// The blocks that one request may ask for: what a peer's queue holds.
    static let maximumCount = 64
}

/// The sizes that blocks have.
public enum BlockSize: UInt16, Sendable, Hashable {
    case standard = 1024
    /// After two losses: passes a path that loses larger packets.
    case small = 448
}

/// One block of a snapshot.
public struct Block: Sendable, Hashable {
    /// The snapshot.
    public var version: SnapshotVersion
    /// The block's number, from 0.
    public var index: UInt16
    /// The number of blocks of the snapshot.
    public var count: UInt16
    /// The number of bytes of the snapshot.
    public var byteCount: UInt32
    /// The block's bytes.
    public var bytes: [UInt8]

    /// Makes a block.
    public init(version: SnapshotVersion, index: UInt16, count: UInt16, byteCount: UInt32, bytes: [UInt8]) {
        self.version = version
        self.index = index
        self.count = count
        self.byteCount = byteCount
        self.bytes = bytes
    }
}

/// What became of a snapshot at the client.
public struct SettingsResult: Sendable, Hashable {
    /// How it ended.
    public enum Status: UInt8, Sendable, Hashable, CaseIterable {
        /// All of it is in force.
        case applied = 0
        /// In force but for the items that are listed.
        case filtered = 1
        /// Refused; the earlier settings are in force.
        case rejected = 2
        /// The host could not apply it; the earlier settings are in force.
        case failed = 3
        /// Taken back because the gateway was out of reach with it; the earlier settings are in force.
        case reverted = 4
    }

    /// The snapshot.
    public var version: SnapshotVersion
    /// How it ended.
    public var status: Status
    /// The items that were refused, changed or noted, at most 32.
    public var findings: [SettingsFinding]

    /// Makes a result; findings beyond the thirty-second are left out.
    public init(version: SnapshotVersion, status: Status, findings: [SettingsFinding]) {
        self.version = version
        self.status = status
        self.findings = Array(findings.prefix(SnapshotLimits.findingCount))
    }
}

/// A client is to leave this gateway.
public struct GoAway: Sendable, Hashable {
    /// What the client does next.
    public enum Action: UInt8, Sendable, Hashable {
        /// Makes a new session with this gateway after the delay.
        case reconnect = 0
        /// Uses another gateway of its profile.
        case useAnother = 1
        /// Stops.
        case stop = 2
    }

    /// What the client does next.
    public var action: Action
    /// How long it waits before that.
    public var delaySeconds: UInt32

    /// Makes the order.
    public init(action: Action, delaySeconds: UInt32) {
        self.action = action
        self.delaySeconds = delaySeconds
    }
}
