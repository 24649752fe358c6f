/// What configuration and its readers see of a peer in the control half.
public struct PeerDescription: Sendable, Equatable {
    /// The peer's name.
    public let publicKey: PublicKey
    /// The preshared key, all zero for none.
    public let presharedKey: PresharedKey
    /// The endpoint as configured; the present one is `Transport.endpoint(of:)`.
    public let configuredEndpoint: Endpoint?
    /// Seconds between persistent keepalives, 0 for off.
    public let keepaliveInterval: UInt16
    /// The wall clock at the last complete handshake, nil for never.
    public let lastHandshake: TAI64N?
}

/// Configuration: every call takes effect at once on a live tunnel, and may queue actions.
extension Device {
    /// Our public key.
    public var publicKey: PublicKey? { identity.map { PublicKey($0.publicKey) } }

    /// Our private key, as the control protocol shows it.
    public var privateKey: PrivateKey? { identity?.secret }

    /// Sets or removes our static key: all sessions and handshakes end, and a peer of that name is removed.
    public mutating func setPrivateKey(_ key: PrivateKey?, now: Instant) {
        let new = key.map(Identity.init)
        guard key != identity?.secret else { return }
        identity = new
        checker = new.map { CookieChecker($0.publicKey) }
        if let new, let own = peer(named: PublicKey(new.publicKey)) { removePeer(own) }
        for slot in byKey.values {
            peers[slot].remote.staticShared = staticShared(with: peers[slot].remote.publicKey)
            abandonHandshake(slot)
            peers[slot].lastHandshakeSent = .zero
            peers[slot].wipeAt = .distantFuture
            queue(.expireKeys(index(slot)))
            if peers[slot].keepaliveInterval > 0 { queue(.sendKeepalive(index(slot))) }
            reschedule(slot)
        }
    }

    /// The peer with a public key.
    public func peer(named key: PublicKey) -> PeerIndex? {
        byKey[key].map { index($0) }
    }

    /// All peers in the order in which they were added, as the kernel's implementation lists them.
    public var allPeers: [PeerIndex] {
        byKey.values.map { (slot: $0, order: peers[$0].order) }.sorted { $0.order < $1.order }.map { index($0.slot) }
    }

    /// Adds a peer, or returns the one that is there; nil for our own public key, which is no peer.
    public mutating func addPeer(_ key: PublicKey, endpoint: Endpoint?) -> PeerIndex? {
        guard key.key != identity?.publicKey else { return nil }
        if let known = peer(named: key) {
            if let endpoint { setEndpoint(endpoint, of: known) }
            return known
        }
        if freeSlots.isEmpty {
            let first = UInt32(peers.count)
            peers.grow()
            freeSlots = (first..<UInt32(peers.count)).reversed()
        }
        let slot = freeSlots.removeLast()
        additions += 1
        peers[slot].order = additions
        peers[slot].isUsed = true
        peers[slot].hasEndpoint = endpoint != nil
        peers[slot].configuredEndpoint = endpoint
        peers[slot].remote.publicKey = key.key
        peers[slot].remote.staticShared = staticShared(with: key.key)
        peers[slot].keeper = CookieKeeper(key.key)
        byKey[key] = slot
        queue(.addPeer(index(slot), endpoint))
        return index(slot)
    }

    /// Removes a peer with its sessions, prefixes and staged packets, and wipes its keys.
    public mutating func removePeer(_ peer: PeerIndex) {
        guard contains(peer) else { return }
        abandonHandshake(peer.slot)
        if peers[peer.slot].hasResponse { handshakes[peers[peer.slot].responseIndex] = nil }
        byKey[PublicKey(peers[peer.slot].remote.publicKey)] = nil
        deadlines.set(peer.slot, to: .distantFuture)
        peers.erase(peer.slot)
        peers[peer.slot].generation = peer.generation &+ 1
        freeSlots.append(peer.slot)
        queue(.removePeer(peer))
    }

    /// Sets where a peer is; it may roam from there.
    public mutating func setEndpoint(_ endpoint: Endpoint, of peer: PeerIndex) {
        guard contains(peer) else { return }
        peers[peer.slot].hasEndpoint = true
        peers[peer.slot].configuredEndpoint = endpoint
        queue(.setEndpoint(peer, endpoint))
        reschedule(peer.slot)
    }

    /// Sets the preshared key; a handshake that is under way already uses it.
    public mutating func setPresharedKey(_ key: PresharedKey?, of peer: PeerIndex) {
        guard contains(peer) else { return }
        peers[peer.slot].remote.presharedKey = key?.key ?? .zero
    }

    /// Sets the interval of persistent keepalives in seconds, 0 for off; turning it on sends one at once.
    public mutating func setKeepaliveInterval(_ seconds: UInt16, of peer: PeerIndex, now: Instant) {
        guard contains(peer) else { return }
        let wasOff = peers[peer.slot].keepaliveInterval == 0
        peers[peer.slot].keepaliveInterval = seconds
        if wasOff, seconds > 0 {
            peers[peer.slot].keepaliveBase = now
            queue(.sendKeepalive(peer))
        }
        reschedule(peer.slot)
    }

    /// What is known of a peer.
    public func description(of peer: PeerIndex) -> PeerDescription? {
        guard contains(peer) else { return nil }
        let state = peers[peer.slot]
        return PeerDescription(
            publicKey: PublicKey(state.remote.publicKey), presharedKey: PresharedKey(state.remote.presharedKey),
            configuredEndpoint: state.configuredEndpoint, keepaliveInterval: state.keepaliveInterval,
            lastHandshake: state.lastHandshake == .zero ? nil : state.lastHandshake)
    }

    // MARK: - Inside

    func index(_ slot: UInt32) -> PeerIndex {
        PeerIndex(slot: slot, generation: peers[slot].generation)
    }

    func contains(_ peer: PeerIndex) -> Bool {
        Int(peer.slot) < peers.count && peers[peer.slot].isUsed && peers[peer.slot].generation == peer.generation
    }

    /// Computes the deadline of a peer anew; after every change of its timers or stamps.
    mutating func reschedule(_ slot: UInt32) {
        deadlines.set(slot, to: peers[slot].deadline)
    }

    /// Forgets a pending initiation and wipes its ephemeral key.
    mutating func abandonHandshake(_ slot: UInt32) {
        if peers[slot].isHandshakePending {
            handshakes[peers[slot].handshake.localIndex] = nil
            peers[slot].isHandshakePending = false
            wipe(&peers[slot].handshake)
        }
        peers[slot].retransmitAt = .distantFuture
        peers[slot].initiateAt = .distantFuture
        peers[slot].retries = 0
    }

    private func staticShared(with key: Key256) -> Key256? {
        identity.flatMap { X25519.sharedSecret($0.privateKey, key) }
    }
}
