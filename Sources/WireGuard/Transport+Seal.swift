/// What a batch of outgoing packets carries.
public enum TrafficKind: Sendable, Hashable {
    case data, keepalive
}

/// Permission to seal a number of packets, by value: the crypto needs nothing else, and no lock.
public struct SealGrant: Sendable, BitwiseCopyable {
    /// The peer.
    public let peer: PeerIndex
    /// The key of ChaCha20-Poly1305.
    public let key: Key256
    /// The index that goes into each header.
    public let receiverIndex: UInt32
    /// The counter of the first packet; the others follow one by one.
    ///
    /// None of them is ever granted again.
    public let firstCounter: UInt64
    /// Where to send them.
    public let endpoint: Endpoint
}

/// The answer to `Transport.beginSeal`.
public enum SealOutcome: Sendable {
    /// Seal and send.
    case seal(SealGrant)
    /// No session that may send: stage the packets until `Directive.flushStaged`; control has been asked for a handshake.
    case noSession(PeerIndex)
    /// Drop all packets, and count each by the reason.
    case drop(DropReason)
}

extension Transport {
    /// The peer whose allowed IPs cover the destination best.
    @inline(__always)
    public func peer(for destination: IPAddress) -> PeerIndex? {
        let owner =
            switch destination {
            case .v4(let address): routes4.owner(of: address)
            case .v6(let address): routes6.owner(of: address)
            }
        guard owner < Self.reserved else { return nil }
        return PeerIndex(slot: owner, generation: peers[owner].generation)
    }

    /// Grants counters for `packets` packets to a peer and notes them as sent now.
    ///
    /// `bytes` is the sum of the datagrams' sizes: padded payload and 32 each. The grant is spent even if the send fails,
    /// as a counter is never used twice. Afterwards see `takeWakeup`.
    public mutating func beginSeal(
        to peer: PeerIndex, packets: Int, bytes: Int, kind: TrafficKind, now: Instant
    ) -> SealOutcome {
        precondition(packets > 0)
        guard contains(peer) else { return .drop(.peerRemoved) }
        let slot = peer.slot
        guard let endpoint = peers[slot].endpoint else { return .drop(.noEndpoint) }
        let current = peers[slot].current
        guard current != Self.none, sessions[current].isAlive(now),
            sessions[current].sendCounter <= Limits.rejectAfterMessages - UInt64(packets)
        else {
            askForHandshake(slot, now: now)
            return .noSession(peer)
        }
        let first = sessions[current].sendCounter
        sessions[current].sendCounter = first + UInt64(packets)
        let grant = SealGrant(
            peer: peer, key: sessions[current].keys.sendKey, receiverIndex: sessions[current].keys.remoteIndex,
            firstCounter: first, endpoint: endpoint)
        noteSent(slot, packets: packets, bytes: bytes, now: now)
        if kind == .data {
            peers[slot].stamps.lastDataSent = now
            if peers[slot].stamps.awaitsReplySince == .zero {
                peers[slot].stamps.awaitsReplySince = now
                arm(slot, now + Limits.silenceTimeout)
            }
        }
        // Whitepaper section 6.2: after REKEY_AFTER_MESSAGES both renew, after REKEY_AFTER_TIME only the initiator.
        let isOld = sessions[current].keys.isInitiator && now - sessions[current].keys.birth >= Limits.rekeyAfter
        if isOld || first + UInt64(packets) > Limits.rekeyAfterMessages { askForHandshake(slot, now: now) }
        return .seal(grant)
    }

    /// Notes an authenticated datagram to a peer.
    @inline(__always)
    mutating func noteSent(_ slot: UInt32, packets: Int, bytes: Int, now: Instant) {
        peers[slot].traffic.sentBytes &+= UInt64(bytes)
        peers[slot].traffic.sentPackets &+= UInt64(packets)
        peers[slot].stamps.lastSent = now
        peers[slot].stamps.owesReplySince = .zero
    }
}
