/// What opening packets of one session needs, by value: no lock is held while the crypto runs.
public struct OpenGrant: Sendable, BitwiseCopyable {
    /// The session, for `accept` and `finishOpen`.
    public let session: SessionReference
    /// The peer that alone knows the key.
    public let peer: PeerIndex
    /// The key of ChaCha20-Poly1305.
    public let key: Key256
}

/// The answer to `Transport.beginOpen`.
public enum OpenOutcome: Sendable {
    case open(OpenGrant)
    case drop(DropReason)
}

/// The sums of a batch that opened, for `Transport.finishOpen`.
public struct OpenTotals: Sendable, BitwiseCopyable {
    /// Packets that `accept` took, keepalives included.
    public var packets = 0
    /// Those of them that had a payload.
    public var dataPackets = 0
    /// The sum of their datagrams' sizes: padded payload and 32 each.
    public var bytes = 0

    /// Makes sums of zero.
    public init() {}

    /// Adds one accepted datagram by its size.
    @inlinable
    public mutating func add(datagram size: Int) {
        packets += 1
        if size > MessageSize.keepalive { dataPackets += 1 }
        bytes += size
    }
}

extension Transport {
    /// Finds the session of a receiver index; ask once per run of datagrams with the same index.
    public mutating func beginOpen(receiverIndex: UInt32, now: Instant) -> OpenOutcome {
        let slot = indices.slot(of: receiverIndex)
        guard slot != IndexTable.none else { return .drop(.unknownIndex) }
        guard sessions[slot].isAlive(now) else { return .drop(.sessionExpired) }
        let peer = sessions[slot].peer
        return .open(
            OpenGrant(
                session: SessionReference(slot: slot, generation: sessions[slot].generation),
                peer: PeerIndex(slot: peer, generation: peers[peer].generation), key: sessions[slot].keys.receiveKey))
    }

    /// Takes the counter of a packet whose tag was right; nil if it is new, else the reason to drop it.
    public mutating func accept(_ session: SessionReference, counter: UInt64) -> DropReason? {
        guard isAlive(session) else { return .sessionExpired }
        return sessions[session.slot].replay.accept(counter) ? nil : .replayedCounter
    }

    /// Whether packets from an inner address may come from the peer: the owner of the longest prefix must be the peer.
    @inline(__always)
    public func isAllowed(source: IPAddress, from peer: PeerIndex) -> Bool {
        switch source {
        case .v4(let address): routes4.owner(of: address) == peer.slot
        case .v6(let address): routes6.owner(of: address) == peer.slot
        }
    }

    /// Ends a batch: endpoint, counters, stamps, and the switch to a session that the peer has confirmed.
    ///
    /// Call it if `accept` took at least one packet, also when their inner sources were refused: they are authentic.
    /// Returns whether staged packets can now be sent. Afterwards see `takeWakeup`.
    public mutating func finishOpen(
        _ session: SessionReference, _ totals: OpenTotals, from endpoint: Endpoint, now: Instant
    ) -> Bool {
        guard totals.packets > 0, isAlive(session) else { return false }
        let slot = sessions[session.slot].peer
        peers[slot].endpoint = endpoint
        peers[slot].traffic.receivedPackets &+= UInt64(totals.packets)
        noteReceived(slot, bytes: totals.bytes, now: now)
        if totals.dataPackets > 0 {
            peers[slot].stamps.lastDataReceived = now
            if peers[slot].stamps.owesReplySince == .zero {
                peers[slot].stamps.owesReplySince = now
                arm(slot, now + Limits.keepaliveTimeout)
            }
        }
        let isConfirmed = peers[slot].next == session.slot
        if isConfirmed {
            // The peer used the keypair that we answered with, so it has it: from now on we send with it.
            makeCurrent(session.slot, of: slot)
            mark(slot, .confirmed)
        }
        peers[slot].heard = session.slot
        // Whitepaper section 6.2: a passive receiver that began the session renews it before it ends, once.
        let current = peers[slot].current
        if current != Self.none, !peers[slot].hasAskedOnReceive, sessions[current].keys.isInitiator,
            now - sessions[current].keys.birth >= Limits.rekeyOnReceiveAfter, now >= peers[slot].quietUntil
        {
            peers[slot].hasAskedOnReceive = true
            askForHandshake(slot, now: now)
        }
        return isConfirmed
    }

    /// Notes an authenticated datagram from a peer.
    @inline(__always)
    mutating func noteReceived(_ slot: UInt32, bytes: Int, now: Instant) {
        peers[slot].traffic.receivedBytes &+= UInt64(bytes)
        peers[slot].stamps.lastReceived = now
        peers[slot].stamps.awaitsReplySince = .zero
    }

    @inline(__always)
    private func isAlive(_ session: SessionReference) -> Bool {
        sessions[session.slot].generation == session.generation && sessions[session.slot].peer != Self.none
    }
}
