/// The control half of a tunnel: identity, peers, handshakes, cookies and timers; owned by the control thread alone.
///
/// Every call is a function of (state, input, now). Each may queue actions, so the driver's loop is:
///
///     handleDatagram / configuration / handleDirty / handleTimeout      expensive crypto, no mutex
///     while let action = pollAction() { lock { transport.apply(action) }; perform the directive }
///     while let dirty = lock { transport.takeDirty() } { handleDirty(dirty); drain actions }
///     while let peer = pollDuePeer(now) { stamps = lock { transport.takeStamps(of: peer) }; handleTimeout; drain actions }
///     sleep until nextTimeout, a wake-up of the data half, or a datagram
///
/// A peer's handshake, as initiator (the responder answers at once and keeps no state but the keypair):
///
///              want (packet staged, session old, silence, keepalive on)
///     idle ────────────────────────────────────────────────▶ waiting ──┐ every 5 s + 0..333 ms, 18 times:
///      ▲                                                      │  ▲     │ new initiation
///      │  response: install keypair, flush staged or keepalive│  └─────┘
///      ├──────────────────────────────────────────────────────┤
///      │  peer confirmed a session that we answered for       │
///      ├──────────────────────────────────────────────────────┤
///      │  retries used up: drop staged, wipe keys 540 s later │
///      └──────────────────────────────────────────────────────┘
///
/// Timers from stamps, recomputed when they are due and never per packet: keepalive 10 s after data that nothing answered,
/// new handshake 15 s + 0..333 ms after data sent into silence, persistent keepalive after any traffic, wipe at 540 s.
public struct Device: ~Copyable {
    var identity: Identity?
    var checker: CookieChecker?
    var peers: Slab<DevicePeer>
    var byKey: [PublicKey: UInt32] = [:]
    /// Peers by the index of their pending initiation or their last response.
    var handshakes: [UInt32: UInt32] = [:]
    var freeSlots: [UInt32] = []
    /// How many peers were ever added.
    var additions: UInt64 = 0
    var deadlines = DeadlineHeap()
    var limiter = RateLimiter()
    /// Messages that are answered under load although they carry no cookie.
    var uncookied = TokenBucket(perSecond: Limits.uncookiedRate, burst: Limits.uncookiedBurst, now: .zero)
    var underLoadUntil = Instant.zero
    private var actions: [Action] = []
    private var nextAction = 0
    /// The guard of our initiations' time stamps; store what it gives before performing an action that sends one.
    public var timestamps: TimestampGuard
    /// What this half dropped.
    public internal(set) var drops = DropCounters()

    /// Makes a device without identity and peers, going on from a stored time stamp.
    public init(timestamps: TimestampGuard) {
        self.timestamps = timestamps
        peers = Slab(chunkShift: 4)
    }

    /// The first test of handshake messages, for whoever takes them in; nil without a private key.
    public var firstMAC: FirstMAC? { checker?.firstMAC }

    /// The next decision for the data half; repeat until nil after every other mutating call.
    public mutating func pollAction() -> Action? {
        guard nextAction < actions.count else {
            actions.removeAll(keepingCapacity: true)
            nextAction = 0
            return nil
        }
        nextAction += 1
        return actions[nextAction - 1]
    }

    mutating func queue(_ action: Action) {
        actions.append(action)
    }

    /// Tells how full the queue of handshake messages is: from an eighth on we are under load, and a second longer.
    public mutating func noteQueue(depth: Int, capacity: Int, now: Instant) {
        if depth * 8 >= capacity { underLoadUntil = now + Limits.underLoadMemory }
    }

    /// Whether cookies are demanded now.
    public func isUnderLoad(at now: Instant) -> Bool {
        now < underLoadUntil
    }
}

/// One peer in the control half.
struct DevicePeer: SlabElement {
    static var empty: DevicePeer { DevicePeer() }

    var generation: UInt32 = 0
    /// Its place in the order in which peers were added.
    var order: UInt64 = 0
    var isUsed = false
    var hasEndpoint = false
    var isHandshakePending = false
    var hasResponse = false
    /// Seconds; 0 is off.
    var keepaliveInterval: UInt16 = 0
    var retries: UInt32 = 0
    /// The index of our last response, for a cookie reply to it.
    var responseIndex: UInt32 = 0
    var remote = RemoteIdentity(publicKey: .zero, staticShared: nil, presharedKey: .zero)
    var keeper = CookieKeeper(.zero)
    var handshake = InitiatorHandshake(state: HandshakeState(), ephemeral: .zero, localIndex: 0)
    /// The time stamps seen in its initiations.
    var timestamps = PeerTimestamps()
    var lastInitiationReceived = Instant.zero
    var lastHandshakeSent = Instant.zero
    /// The wall clock at the last complete handshake, zero for never.
    var lastHandshake = TAI64N.zero
    var configuredEndpoint: Endpoint?

    var retransmitAt = Instant.distantFuture
    var initiateAt = Instant.distantFuture
    var wipeAt = Instant.distantFuture
    var keepaliveBase = Instant.zero
    var silenceJitter = TimeSpan(nanoseconds: 0)
    var stamps = PeerStamps()

    /// When the persistent keepalive is due.
    var keepaliveAt: Instant {
        guard keepaliveInterval > 0, hasEndpoint else { return .distantFuture }
        return max(stamps.lastSent, stamps.lastReceived, keepaliveBase) + .seconds(UInt64(keepaliveInterval))
    }

    /// When a keepalive is owed for received data.
    var replyAt: Instant {
        stamps.owesReplySince == .zero ? .distantFuture : stamps.owesReplySince + Limits.keepaliveTimeout
    }

    /// When silence after sent data calls for a new handshake.
    var silenceAt: Instant {
        guard stamps.awaitsReplySince != .zero else { return .distantFuture }
        return stamps.awaitsReplySince + Limits.silenceTimeout + silenceJitter
    }

    /// The earliest of all timers.
    var deadline: Instant {
        min(retransmitAt, initiateAt, wipeAt, min(keepaliveAt, replyAt, silenceAt))
    }
}

// SAFETY: the value owns its storage alone.
extension Device: @unchecked Sendable {}
