/// The data half of a tunnel: routes, sessions, counters, replay windows, endpoints, stamps.
///
/// The driver holds one short mutex around it and calls it about twice per super-packet, never while crypto runs:
///
///     TX  lock { peer(for:) -> beginSeal(n packets) }   seal n packets outside   send
///     RX  lock { beginOpen(index) }   open outside   lock { accept(counter), isAllowed(source) each; finishOpen }
///     control  lock { takeDirty, takeStamps, apply(action) }
///
/// After any call on TX or RX, `takeWakeup` says whether control has to be woken. Nothing here allocates except adding
/// peers, sessions and routes, which control does. Nothing here counts drops: each thread counts the reasons it is given.
public struct Transport: ~Copyable {
    static let none = UInt32.max
    static var reserved: UInt32 { PrefixTrie<UInt128>.reserved }

    var peers: Slab<PeerSlot>
    var sessions: Slab<Session>
    var indices = IndexTable()
    var routes4 = PrefixTrie<UInt32>()
    var routes6 = PrefixTrie<UInt128>()
    private var freeSession = Transport.none
    var dirtyHead = Transport.none
    var dirtyTail = Transport.none
    private var needsWakeup = false
    /// Makes a transport without peers.
    public init() {
        peers = Slab(chunkShift: 5)
        sessions = Slab(chunkShift: 4)
    }

    /// Whether the peer is still there.
    public func contains(_ peer: PeerIndex) -> Bool {
        Int(peer.slot) < peers.count && peers[peer.slot].isUsed && peers[peer.slot].generation == peer.generation
    }

    /// Whether control must be woken because the list of dirty peers became non-empty; true once per occasion.
    public mutating func takeWakeup() -> Bool {
        defer { needsWakeup = false }
        return needsWakeup
    }

    // MARK: - Dirty peers

    /// Puts a peer on control's list.
    mutating func mark(_ slot: UInt32, _ flags: PeerSlot.Dirty) {
        let isListed = !peers[slot].dirty.isEmpty
        peers[slot].dirty.formUnion(flags)
        guard !isListed else { return }
        peers[slot].dirtyNext = Self.none
        if dirtyTail == Self.none {
            dirtyHead = slot
            needsWakeup = true
        } else {
            peers[dirtyTail].dirtyNext = slot
        }
        dirtyTail = slot
    }

    /// Marks a peer for control if a deadline comes before the one control has armed.
    @inline(__always)
    mutating func arm(_ slot: UInt32, _ deadline: Instant) {
        guard deadline < peers[slot].armed else { return }
        peers[slot].armed = deadline
        mark(slot, .timers)
    }

    /// Asks control for a handshake, unless control was asked less than REKEY_TIMEOUT ago and is still at it.
    ///
    /// Control loses no wish: it sends, or schedules the message for when it may be sent, and gives up after 90 s.
    /// Either end of its efforts clears `quietUntil`.
    mutating func askForHandshake(_ slot: UInt32, now: Instant) {
        guard now >= peers[slot].quietUntil else { return }
        peers[slot].quietUntil = now + Limits.rekeyTimeout
        mark(slot, .wantsHandshake)
    }

    /// Takes the first peer off the list of those that need control; repeat until nil, after a wake-up.
    public mutating func takeDirty(now: Instant) -> DirtyPeer? {
        while dirtyHead != Self.none {
            let slot = dirtyHead
            dirtyHead = peers[slot].dirtyNext
            if dirtyHead == Self.none { dirtyTail = Self.none }
            let flags = peers[slot].dirty
            peers[slot].dirty = []
            guard peers[slot].isUsed else { continue }
            let peer = PeerIndex(slot: slot, generation: peers[slot].generation)
            guard let stamps = takeStamps(of: peer, now: now) else { continue }
            return DirtyPeer(
                peer: peer, wantsHandshake: flags.contains(.wantsHandshake), isConfirmed: flags.contains(.confirmed),
                stamps: stamps)
        }
        return nil
    }

    /// The stamps of a peer, for `Device.handleTimeout`; from then on a change that needs control earlier marks the peer.
    ///
    /// Control acts on what is due and clears it, so only what is still to come counts as armed.
    public mutating func takeStamps(of peer: PeerIndex, now: Instant) -> PeerStamps? {
        guard contains(peer) else { return nil }
        peers[peer.slot].armed = peers[peer.slot].stamps.deadline(after: now)
        return peers[peer.slot].stamps
    }

    // MARK: - Session slots

    /// Takes a free session slot, growing the slab if there is none.
    mutating func allocateSession() -> UInt32 {
        if freeSession == Self.none {
            let first = UInt32(sessions.count)
            sessions.grow()
            for slot in (first..<UInt32(sessions.count)).reversed() {
                sessions[slot].link = freeSession
                freeSession = slot
            }
        }
        let slot = freeSession
        freeSession = sessions[slot].link
        return slot
    }

    /// Wipes a session and frees its slot; a reference to it is void from then on.
    mutating func freeSession(_ slot: UInt32) {
        guard slot != Self.none else { return }
        indices.remove(sessions[slot].keys.localIndex)
        let generation = sessions[slot].generation &+ 1
        sessions.erase(slot)
        sessions[slot].generation = generation
        sessions[slot].link = freeSession
        freeSession = slot
    }
}

/// A peer that control has to look at, as `Transport.takeDirty` gives it to `Device.handleDirty`.
public struct DirtyPeer: Sendable, BitwiseCopyable {
    /// The peer.
    public let peer: PeerIndex
    /// Packets wait for a session, or the session is due for renewal.
    public let wantsHandshake: Bool
    /// The first packet of a session that we answered for has come: its handshake is complete.
    public let isConfirmed: Bool
    /// The peer's stamps at that moment.
    public let stamps: PeerStamps
}

/// One peer in the data half.
struct PeerSlot: SlabElement {
    static var empty: PeerSlot { PeerSlot() }

    struct Dirty: OptionSet, BitwiseCopyable {
        let rawValue: UInt8
        static let timers = Dirty(rawValue: 1)
        static let wantsHandshake = Dirty(rawValue: 2)
        static let confirmed = Dirty(rawValue: 4)
    }

    var generation: UInt32 = 0
    var isUsed = false
    /// Whether the receive path has asked for the renewal at 165 s.
    var hasAskedOnReceive = false
    var dirty: Dirty = []
    var dirtyNext = Transport.none
    /// The session that we send with.
    var current = Transport.none
    /// The session that the peer has too, as far as we know, beside `current`.
    var previous = Transport.none
    /// The session that the peer was last heard on before `current` came up, if it is neither of the two above.
    var older = Transport.none
    /// The session that we answered for and that the peer has not used yet.
    var next = Transport.none
    /// The one of the above that the last packet came with.
    ///
    /// INVARIANT: none, or a session that is in use.
    var heard = Transport.none
    var endpoint: Endpoint?
    var stamps = PeerStamps()
    var traffic = PeerTraffic()
    /// The deadline that control knows of: earlier ones must be told.
    var armed = Instant.distantFuture
    /// Until then the data half asks for no other handshake.
    var quietUntil = Instant.zero
}

/// One keypair in use.
struct Session: SlabElement {
    static var empty: Session { Session() }

    var keys = Keypair(
        sendKey: .zero, receiveKey: .zero, localIndex: 0, remoteIndex: 0, isInitiator: false, birth: .zero)
    var generation: UInt32 = 0
    var peer = Transport.none
    /// The next free slot.
    var link = Transport.none
    /// The counter of the next packet.
    var sendCounter: UInt64 = 0
    var replay = ReplayWindow()

    /// Whether the keys may still be used.
    @inline(__always)
    func isAlive(_ now: Instant) -> Bool {
        now - keys.birth < Limits.rejectAfter && replay.next < Limits.rejectAfterMessages
    }
}
