/// The small name of a peer in both halves: its slot, and the generation that tells a reused slot apart.
public struct PeerIndex: Sendable, Hashable, BitwiseCopyable {
    /// The slot, dense from 0: drivers may index their own tables with it.
    public let slot: UInt32
    /// How often the slot was given out before.
    public let generation: UInt32

    init(slot: UInt32, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }
}

/// Names a session between `beginOpen` and `finishOpen`; it is void once the session has gone.
public struct SessionReference: Sendable, Hashable, BitwiseCopyable {
    let slot: UInt32
    let generation: UInt32
}

/// The relaxed time stamps of a peer's traffic, from which control derives its timers; zero means never or not.
public struct PeerStamps: Sendable, Hashable, BitwiseCopyable {
    /// The last authenticated packet of any kind that we sent.
    public var lastSent: Instant = .zero
    /// The last authenticated packet of any kind that came.
    public var lastReceived: Instant = .zero
    /// The last packet with a payload that we sent.
    public var lastDataSent: Instant = .zero
    /// The last packet with a payload that came.
    public var lastDataReceived: Instant = .zero
    /// When data came that nothing we sent since has answered: a keepalive is due 10 s later.
    public var owesReplySince: Instant = .zero
    /// When we sent data after which nothing came: a new handshake is due 15 s later.
    public var awaitsReplySince: Instant = .zero

    /// The earliest instant after `now` at which control has to act on these stamps, without jitter.
    func deadline(after now: Instant) -> Instant {
        let owed = owesReplySince == .zero ? .distantFuture : owesReplySince + Limits.keepaliveTimeout
        let awaited = awaitsReplySince == .zero ? .distantFuture : awaitsReplySince + Limits.silenceTimeout
        return min(owed > now ? owed : .distantFuture, awaited > now ? awaited : .distantFuture)
    }
}

/// What moved through a peer so far.
public struct PeerTraffic: Sendable, Hashable, BitwiseCopyable {
    /// Bytes received: padded payload and 32 for data, 148 and 92 for handshake messages.
    public var receivedBytes: UInt64 = 0
    /// Bytes sent, counted alike.
    public var sentBytes: UInt64 = 0
    /// Data packets received, keepalives included.
    public var receivedPackets: UInt64 = 0
    /// Data packets sent, keepalives included.
    public var sentPackets: UInt64 = 0
}
