/// What the driver has to do itself after `Transport.apply`, outside the mutex.
public enum Directive: Sendable, Equatable {
    /// Nothing.
    case none
    /// Send a handshake or cookie message.
    case transmit([UInt8], to: Endpoint)
    /// Send the peer a keepalive: `beginSeal` for one packet of 32 bytes, `TrafficKind.keepalive`.
    case sendKeepalive(PeerIndex)
    /// Send the peer's staged packets; if there are none and the flag is set, a keepalive.
    case flushStaged(PeerIndex, keepaliveIfEmpty: Bool)
    /// Drop the peer's staged packets.
    case dropStaged(PeerIndex)
}

extension Transport {
    /// Applies what control decided; under the mutex, in the order in which `Device.pollAction` gives the actions.
    public mutating func apply(_ action: Action, now: Instant) -> Directive {
        switch action {
        case .addPeer(let peer, let endpoint):
            addPeer(peer, endpoint)
        case .removePeer(let peer):
            removePeer(peer)
            return .dropStaged(peer)
        case .setEndpoint(let peer, let endpoint):
            if contains(peer) { peers[peer.slot].endpoint = endpoint }
        case .transmit(let bytes, .address(let endpoint)):
            return .transmit(bytes, to: endpoint)
        case .transmit(let bytes, .peer(let peer)):
            guard contains(peer), let endpoint = peers[peer.slot].endpoint else { return .none }
            noteSent(peer.slot, packets: 0, bytes: bytes.count, now: now)
            return .transmit(bytes, to: endpoint)
        case .noteReceived(let peer, let bytes, let endpoint):
            guard contains(peer) else { return .none }
            peers[peer.slot].endpoint = endpoint
            noteReceived(peer.slot, bytes: bytes, now: now)
        case .install(let peer, let keypair):
            install(keypair.storage.value, for: peer)
        case .expireKeys(let peer):
            expireKeys(of: peer)
        case .giveUp(let peer):
            if contains(peer) {
                peers[peer.slot].stamps.owesReplySince = .zero
                peers[peer.slot].quietUntil = .zero
            }
            return .dropStaged(peer)
        case .clearAwaitedReply(let peer):
            if contains(peer) { peers[peer.slot].stamps.awaitsReplySince = .zero }
        case .sendKeepalive(let peer):
            // Cleared here, so that the timer does not fire again if no session can carry the keepalive.
            if contains(peer) { peers[peer.slot].stamps.owesReplySince = .zero }
            return .sendKeepalive(peer)
        case .flushStaged(let peer, let keepaliveIfEmpty):
            return .flushStaged(peer, keepaliveIfEmpty: keepaliveIfEmpty)
        case .dropStaged(let peer):
            return .dropStaged(peer)
        }
        return .none
    }

    private mutating func addPeer(_ peer: PeerIndex, _ endpoint: Endpoint?) {
        while peers.count <= Int(peer.slot) { peers.grow() }
        // The slot may still stand in the dirty list for its former peer: that link stays.
        let (dirty, next) = (peers[peer.slot].dirty, peers[peer.slot].dirtyNext)
        peers[peer.slot] = PeerSlot()
        peers[peer.slot].dirty = dirty
        peers[peer.slot].dirtyNext = next
        peers[peer.slot].generation = peer.generation
        peers[peer.slot].isUsed = true
        peers[peer.slot].endpoint = endpoint
    }

    private mutating func removePeer(_ peer: PeerIndex) {
        guard contains(peer) else { return }
        expireKeys(of: peer)
        routes4.removeAll(of: peer.slot)
        routes6.removeAll(of: peer.slot)
        peers[peer.slot].isUsed = false
    }

    /// Wipes all sessions of a peer.
    private mutating func expireKeys(of peer: PeerIndex) {
        guard contains(peer) else { return }
        freeSession(peers[peer.slot].current)
        freeSession(peers[peer.slot].previous)
        freeSession(peers[peer.slot].older)
        freeSession(peers[peer.slot].next)
        peers[peer.slot].current = Self.none
        peers[peer.slot].previous = Self.none
        peers[peer.slot].older = Self.none
        peers[peer.slot].next = Self.none
        peers[peer.slot].heard = Self.none
        peers[peer.slot].quietUntil = .zero
    }

    /// Puts a new keypair in its place: current if we began the handshake, else next, until the peer's first packet.
    ///
    /// If the index is taken by another session (about one in 2^32 per session) the keypair is dropped, and the next
    /// packet starts another handshake.
    private mutating func install(_ keypair: Keypair, for peer: PeerIndex) {
        guard contains(peer), indices.slot(of: keypair.localIndex) == IndexTable.none else { return }
        let slot = peer.slot
        let session = allocateSession()
        sessions[session].keys = keypair
        sessions[session].peer = slot
        sessions[session].link = Self.none
        _ = indices.insert(keypair.localIndex, slot: session)
        if keypair.isInitiator {
            makeCurrent(session, of: slot)
        } else {
            // The peer began anew, so it will not use what it was answered before.
            freeSession(peers[slot].next)
            peers[slot].next = session
        }
    }

    /// Makes a session the one that we send with, and keeps those that the peer may still send with.
    ///
    ///     we began          previous := next, which the peer has as current if both began at once, else current
    ///     peer confirmed    previous := current
    ///     either            older := the one last heard, unless it is kept anyway
    ///
    /// The kernel's implementation keeps two: it frees `previous` when it answers, and `current` when both began at once.
    /// Packets on their way with those are lost then, whenever two handshakes cross.
    mutating func makeCurrent(_ session: UInt32, of slot: UInt32) {
        let peer = peers[slot]
        let previous = peer.next == Self.none || peer.next == session ? peer.current : peer.next
        let heard = peer.heard == Self.none ? peer.current : peer.heard
        let older = heard == previous ? Self.none : heard
        let all: InlineArray<4, UInt32> = [peer.current, peer.previous, peer.older, peer.next]
        for index in all.indices where all[index] != session && all[index] != previous && all[index] != older {
            freeSession(all[index])
        }
        peers[slot].current = session
        peers[slot].previous = previous
        peers[slot].older = older
        peers[slot].next = Self.none
        peers[slot].hasAskedOnReceive = false
        peers[slot].quietUntil = .zero
    }
}
