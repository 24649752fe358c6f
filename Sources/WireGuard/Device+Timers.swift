/// Timers and the initiator's side of handshakes.
extension Device {
    /// The earliest instant at which `pollDuePeer` gives a peer; read it again after every other call.
    public var nextTimeout: Instant? { deadlines.next }

    /// The next peer with a timer that is due; repeat until nil, calling `handleTimeout` for each.
    public mutating func pollDuePeer(_ now: Instant) -> PeerIndex? {
        guard let slot = deadlines.first, let next = deadlines.next, next <= now else { return nil }
        deadlines.set(slot, to: .distantFuture)
        return index(slot)
    }

    /// Acts on the timers of a peer that `pollDuePeer` gave, with its stamps of this moment.
    ///
    /// Drain `pollAction` then.
    public mutating func handleTimeout(
        _ peer: PeerIndex, stamps: PeerStamps, now: Moment, random: inout some RandomSource
    ) {
        guard contains(peer) else { return }
        peers[peer.slot].stamps = stamps
        fireTimers(peer.slot, now, &random)
        reschedule(peer.slot)
    }

    /// Acts on a peer that the data half marked.
    ///
    /// Drain `pollAction` then.
    public mutating func handleDirty(_ dirty: DirtyPeer, now: Moment, random: inout some RandomSource) {
        guard contains(dirty.peer) else { return }
        let slot = dirty.peer.slot
        peers[slot].stamps = dirty.stamps
        // First: after a long sleep the handshake that is wanted now must not be wiped with the keys of before.
        wipeIfDue(slot, now)
        if dirty.isConfirmed { completeHandshake(slot, now) }
        if dirty.wantsHandshake { wantHandshake(slot, isRetry: false, now, &random) }
        fireTimers(slot, now, &random)
        reschedule(slot)
    }

    private mutating func fireTimers(_ slot: UInt32, _ now: Moment, _ random: inout some RandomSource) {
        let peer = index(slot)
        wipeIfDue(slot, now)
        if peers[slot].retransmitAt <= now.instant {
            retransmit(slot, now, &random)
        }
        if peers[slot].initiateAt <= now.instant {
            wantHandshake(slot, isRetry: false, now, &random)
        }
        if peers[slot].silenceAt <= now.instant {
            peers[slot].stamps.awaitsReplySince = .zero
            peers[slot].silenceJitter = random.nextJitter()
            queue(.clearAwaitedReply(peer))
            wantHandshake(slot, isRetry: false, now, &random)
        }
        if min(peers[slot].replyAt, peers[slot].keepaliveAt) <= now.instant {
            // One keepalive serves both, and missed ones are not made up for: after sleep there is no burst.
            peers[slot].stamps.owesReplySince = .zero
            peers[slot].keepaliveBase = now.instant
            queue(.sendKeepalive(peer))
        }
    }

    /// Forgets keys that are three times as old as any session may be.
    private mutating func wipeIfDue(_ slot: UInt32, _ now: Moment) {
        guard peers[slot].wipeAt <= now.instant else { return }
        peers[slot].wipeAt = .distantFuture
        abandonHandshake(slot)
        queue(.expireKeys(index(slot)))
    }

    /// Sends the initiation again, or gives up after REKEY_ATTEMPT_TIME.
    private mutating func retransmit(_ slot: UInt32, _ now: Moment, _ random: inout some RandomSource) {
        guard peers[slot].retries >= Limits.handshakeRetries else {
            peers[slot].retries += 1
            wantHandshake(slot, isRetry: true, now, &random)
            return
        }
        abandonHandshake(slot)
        peers[slot].stamps.owesReplySince = .zero
        timestamps.trustWallClock()
        queue(.giveUp(index(slot)))
        if peers[slot].wipeAt == .distantFuture { peers[slot].wipeAt = now.instant + Limits.wipeKeysAfter }
    }

    /// Starts a handshake, unless one was sent less than REKEY_TIMEOUT ago; then it starts when that time is over.
    private mutating func wantHandshake(
        _ slot: UInt32, isRetry: Bool, _ now: Moment, _ random: inout some RandomSource
    ) {
        if !isRetry { peers[slot].retries = 0 }
        peers[slot].initiateAt = .distantFuture
        guard identity != nil, peers[slot].hasEndpoint, peers[slot].remote.staticShared != nil else {
            // Nothing is ever sent to a public key of low order.
            abandonHandshake(slot)
            queue(.dropStaged(index(slot)))
            return
        }
        let earliest = peers[slot].lastHandshakeSent + Limits.rekeyTimeout
        guard peers[slot].lastHandshakeSent == .zero || now.instant >= earliest else {
            if peers[slot].retransmitAt == .distantFuture { peers[slot].initiateAt = earliest }
            return
        }
        sendInitiation(slot, now, &random)
    }

    private mutating func sendInitiation(_ slot: UInt32, _ now: Moment, _ random: inout some RandomSource) {
        let retries = peers[slot].retries
        abandonHandshake(slot)
        peers[slot].retries = retries
        guard let identity else { return }
        let index = freshIndex(&random)
        let begun = InitiatorHandshake.begin(
            from: identity, to: peers[slot].remote, ephemeral: random.nextKey(), index: index,
            timestamp: timestamps.next(now))
        guard var (handshake, message) = begun else {
            queue(.dropStaged(self.index(slot)))
            return
        }
        peers[slot].keeper.appendMACs(to: &message, now: now.instant)
        peers[slot].handshake = handshake
        wipe(&handshake)
        peers[slot].isHandshakePending = true
        peers[slot].lastHandshakeSent = now.instant
        peers[slot].retransmitAt = now.instant + Limits.rekeyTimeout + random.nextJitter()
        peers[slot].silenceJitter = random.nextJitter()
        handshakes[index] = slot
        queue(.transmit(message, .peer(self.index(slot))))
        peers[slot].stamps.lastSent = now.instant
        peers[slot].stamps.owesReplySince = .zero
    }
}
