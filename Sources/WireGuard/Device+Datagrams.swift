/// Handshake and cookie messages from the network.
extension Device {
    /// Takes a datagram whose type is not transport data; nil if it was used, else why it was dropped (it is counted).
    ///
    /// The cheap test, MAC1, comes before everything that costs; an initiation is parsed once. Drain `pollAction` then.
    ///
    /// - Parameters:
    ///   - datagram: The message.
    ///   - source: Where it came from.
    ///   - isNewcomer: Whether the source was quiet before (`SourceMemory`): under load some of those are answered without
    ///     a cookie.
    ///   - now: Both clocks.
    ///   - random: Keys, indices and delays come from it.
    /// - Returns: Why it was dropped, nil if it was used.
    public mutating func handleDatagram(
        _ datagram: RawSpan, from source: Endpoint, isNewcomer: Bool = false, now: Moment,
        random: inout some RandomSource
    ) -> DropReason? {
        let reason = process(datagram, from: source, isNewcomer, now: now, random: &random)
        if let reason { drops.count(reason) }
        return reason
    }

    private mutating func process(
        _ datagram: RawSpan, from source: Endpoint, _ isNewcomer: Bool, now: Moment, random: inout some RandomSource
    ) -> DropReason? {
        guard let identity, var checker else { return .noIdentity }
        guard let kind = MessageKind(datagram), kind != .data else { return .malformed }
        if kind == .cookieReply { return consumeCookie(datagram, now: now.instant) }
        guard checker.firstMAC.isValid(datagram) else { return .badFirstMAC }
        if isUnderLoad(at: now.instant) {
            if checker.hasValidMAC2(datagram, from: source, now: now.instant) {
                guard limiter.allow(source, now: now.instant) else { return .rateLimited }
            } else {
                let isPreferred = isNewcomer || isAwaited(kind, datagram)
                guard isPreferred, uncookied.take(now: now.instant) else {
                    let reply = checker.reply(to: datagram, from: source, now: now.instant, random: &random)
                    self.checker = checker
                    queue(.transmit(reply, .address(source)))
                    return .cookieRequired
                }
            }
        }
        return kind == .initiation
            ? consumeInitiation(datagram, identity, from: source, now: now, random: &random)
            : consumeResponse(datagram, identity, from: source, now: now)
    }

    /// Whether it is a response to an initiation of ours: nobody else can guess the index.
    private func isAwaited(_ kind: MessageKind, _ datagram: RawSpan) -> Bool {
        kind == .response && handshakes[datagram.littleEndian32(at: Offset.responseReceiver)] != nil
    }

    /// Answers an initiation (whitepaper sections 5.4.2 and 5.4.3).
    private mutating func consumeInitiation(
        _ datagram: RawSpan, _ identity: Identity, from source: Endpoint, now: Moment, random: inout some RandomSource
    ) -> DropReason? {
        guard var received = ReceivedInitiation(datagram, identity: identity) else { return .authenticationFailed }
        guard let slot = byKey[PublicKey(received.remoteStatic)] else { return .unknownPeer }
        guard let timestamp = received.openTimestamp(datagram, peer: peers[slot].remote) else {
            return .authenticationFailed
        }
        // Section 5.1: a time stamp that is not later than the last one is a replay.
        guard peers[slot].timestamps.isFresh(timestamp) else { return .replayedInitiation }
        guard
            peers[slot].lastInitiationReceived == .zero
                || now.instant - peers[slot].lastInitiationReceived >= Limits.initiationInterval
        else { return .initiationFlood }
        let index = freshIndex(&random)
        guard
            var (message, keypair) = received.respond(
                peer: peers[slot].remote, ephemeral: random.nextKey(), index: index, now: now.instant)
        else { return .authenticationFailed }
        peers[slot].timestamps.note(timestamp, at: timestamps.wallClock(at: now))
        peers[slot].lastInitiationReceived = now.instant
        if peers[slot].hasResponse { handshakes[peers[slot].responseIndex] = nil }
        peers[slot].hasResponse = true
        peers[slot].responseIndex = index
        handshakes[index] = slot
        peers[slot].keeper.appendMACs(to: &message, now: now.instant)
        peers[slot].hasEndpoint = true
        peers[slot].lastHandshakeSent = now.instant
        peers[slot].silenceJitter = random.nextJitter()
        peers[slot].wipeAt = now.instant + Limits.wipeKeysAfter
        let peer = self.index(slot)
        queue(.noteReceived(peer, bytes: datagram.byteCount, from: source))
        queue(.install(peer, KeypairHandle(keypair)))
        queue(.transmit(message, .peer(peer)))
        wipe(&keypair)
        noteTraffic(slot, now.instant)
        return nil
    }

    /// Completes our handshake (whitepaper section 5.4.3).
    private mutating func consumeResponse(
        _ datagram: RawSpan, _ identity: Identity, from source: Endpoint, now: Moment
    ) -> DropReason? {
        let index = datagram.littleEndian32(at: Offset.responseReceiver)
        guard let slot = handshakes[index], peers[slot].isHandshakePending, peers[slot].handshake.localIndex == index
        else { return .unknownIndex }
        guard
            var keypair = peers[slot].handshake.finish(
                datagram, identity: identity, presharedKey: peers[slot].remote.presharedKey, now: now.instant)
        else { return .authenticationFailed }
        let peer = self.index(slot)
        queue(.noteReceived(peer, bytes: datagram.byteCount, from: source))
        queue(.install(peer, KeypairHandle(keypair)))
        queue(.flushStaged(peer, keepaliveIfEmpty: true))
        wipe(&keypair)
        peers[slot].hasEndpoint = true
        peers[slot].wipeAt = now.instant + Limits.wipeKeysAfter
        completeHandshake(slot, now)
        noteTraffic(slot, now.instant)
        return nil
    }

    /// Keeps the cookie of a reply to our last message (whitepaper section 5.4.7); the next retry carries it.
    private mutating func consumeCookie(_ datagram: RawSpan, now: Instant) -> DropReason? {
        guard let slot = handshakes[datagram.littleEndian32(at: Offset.receiver)] else { return .unknownIndex }
        return peers[slot].keeper.consume(datagram, now: now) ? nil : .authenticationFailed
    }

    /// A handshake is complete: ours by the response, the peer's by its first packet.
    mutating func completeHandshake(_ slot: UInt32, _ now: Moment) {
        abandonHandshake(slot)
        peers[slot].lastHandshake = now.wallClock
    }

    /// Notes authenticated traffic that the stamps will show, so that the deadline is right before they are read again.
    mutating func noteTraffic(_ slot: UInt32, _ now: Instant) {
        peers[slot].stamps.lastReceived = now
        peers[slot].stamps.lastSent = now
        peers[slot].stamps.awaitsReplySince = .zero
        peers[slot].stamps.owesReplySince = .zero
        reschedule(slot)
    }

    /// A random index that no pending handshake has.
    mutating func freshIndex(_ random: inout some RandomSource) -> UInt32 {
        var index = random.nextIndex()
        while handshakes[index] != nil { index = random.nextIndex() }
        return index
    }
}
