import Synchronization
import WireGuard

/// What the control protocol and the configuration file change, and what of it is shown.
extension ControlLoop {
    /// Prefixes that are changed under one hold of the mutex, which the data threads wait for.
    private static var prefixesPerLock: Int { 256 }

    /// Serves the orders that wait.
    mutating func obeyOrders() {
        for order in engine.takeControlOrders() {
            switch order {
            case .list(let reply):
                reply(ControlOrder.Listing(privateKey: device.privateKey, peers: device.allPeers))
            case .describe(let peers, let reply): reply(peers.compactMap { status(of: $0) })
            case .apply(let settings, let endpoints, let reply):
                apply(settings, endpoints)
                reply(())
            case .found(let endpoints, let key): use(endpoints, of: key)
            case .link(let isUp): setLink(isUp: isUp)
            }
        }
    }

    /// Changes what the settings name.
    mutating func apply(_ settings: ControlSettings, _ endpoints: [PublicKey: Endpoint]) {
        let now = Clock.moment()
        switch settings.privateKey {
        case .keep: break
        case .clear: device.setPrivateKey(nil, now: now.instant)
        case .set(let key): device.setPrivateKey(key, now: now.instant)
        }
        engine.firstMAC.withLock { $0 = device.firstMAC }
        if settings.replacesPeers {
            for peer in device.allPeers { device.removePeer(peer) }
            names = .none
        }
        perform(now)
        if plane != nil { reserveControlAddress() }
        for peer in settings.peers { apply(peer, endpoints[peer.publicKey], now) }
    }

    private mutating func apply(_ wanted: ControlSettings.Peer, _ endpoint: Endpoint?, _ now: Moment) {
        let known = device.peer(named: wanted.publicKey)
        if wanted.isRemoved || endpoint != nil { names.forget(wanted.publicKey) }
        if wanted.isRemoved || (wanted.updatesOnly && known == nil) {
            if wanted.isRemoved, let known { device.removePeer(known) }
            return perform(now)
        }
        // Our own key is no peer, as with wg(8).
        guard let peer = known ?? device.addPeer(wanted.publicKey, endpoint: endpoint) else { return }
        if let key = wanted.presharedKey { device.setPresharedKey(key, of: peer) }
        if let endpoint, known != nil { device.setEndpoint(endpoint, of: peer) }
        // The peer is in the data half before its prefixes, and its prefixes before the keepalive that greets it.
        perform(now)
        changeAllowedIPs(wanted, of: peer)
        if let interval = wanted.keepaliveInterval {
            device.setKeepaliveInterval(interval, of: peer, now: now.instant)
        }
        perform(now)
    }

    /// Prefixes that are replaced by themselves are never away: packets that they route are on their way meanwhile.
    private func changeAllowedIPs(_ wanted: ControlSettings.Peer, of peer: PeerIndex) {
        let old = wanted.replacesAllowedIPs ? engine.shared.withLock { $0.transport.allowedIPs(of: peer) } : []
        change(wanted.allowedIPs, of: peer)
        guard !old.isEmpty else { return }
        var kept: Set<IPPrefix> = []
        for change in wanted.allowedIPs {
            if change.isRemoval { kept.remove(change.prefix) } else { kept.insert(change.prefix) }
        }
        let gone = old.filter { !kept.contains($0) }
        change(gone.map { ControlSettings.AllowedIPChange(prefix: $0, isRemoval: true) }, of: peer)
    }

    private func change(_ changes: [ControlSettings.AllowedIPChange], of peer: PeerIndex) {
        var rest = changes[...]
        while !rest.isEmpty {
            let batch = rest.prefix(Self.prefixesPerLock)
            rest = rest.dropFirst(Self.prefixesPerLock)
            engine.shared.withLock { shared in
                for change in batch {
                    if change.isRemoval {
                        shared.transport.removeAllowedIP(change.prefix, from: peer)
                    } else {
                        shared.transport.insertAllowedIPs([change.prefix], for: peer)
                    }
                }
            }
        }
    }

    private func status(of peer: PeerIndex) -> PeerStatus? {
        guard let description = device.description(of: peer) else { return nil }
        return engine.shared.withLock { shared in
            guard let traffic = shared.transport.traffic(of: peer) else { return nil }
            return PeerStatus(
                description: description, endpoint: shared.transport.endpoint(of: peer), traffic: traffic,
                allowedIPs: shared.transport.allowedIPs(of: peer))
        }
    }

    private mutating func setLink(isUp: Bool) {
        guard isUp != self.isUp else { return }
        let now = Clock.moment()
        if isUp {
            self.isUp = true
            device.resume(now: now.instant)
            perform(now)
        } else {
            // Still up, so that the staged packets go; there is no socket any more to greet anybody with.
            device.suspend()
            perform(now)
            self.isUp = false
        }
    }
}
