/// Allowed IPs and statistics, for configuration and its readers.
extension Transport {
    /// Gives prefixes to a peer; a prefix that another peer has moves to this one.
    public mutating func insertAllowedIPs(_ prefixes: [IPPrefix], for peer: PeerIndex) {
        guard contains(peer) else { return }
        for prefix in prefixes {
            switch prefix.address {
            case .v4(let key): routes4.insert(key, length: prefix.length, owner: peer.slot)
            case .v6(let key): routes6.insert(key, length: prefix.length, owner: peer.slot)
            }
        }
    }

    /// Takes one prefix from a peer; nothing happens if the peer does not have it.
    public mutating func removeAllowedIP(_ prefix: IPPrefix, from peer: PeerIndex) {
        guard contains(peer) else { return }
        switch prefix.address {
        case .v4(let key): routes4.remove(key, length: prefix.length, owner: peer.slot)
        case .v6(let key): routes6.remove(key, length: prefix.length, owner: peer.slot)
        }
    }

    /// Takes all prefixes from a peer.
    public mutating func removeAllowedIPs(of peer: PeerIndex) {
        guard contains(peer) else { return }
        routes4.removeAll(of: peer.slot)
        routes6.removeAll(of: peer.slot)
    }

    /// The prefixes of a peer, the last inserted first, IPv4 before IPv6.
    public func allowedIPs(of peer: PeerIndex) -> [IPPrefix] {
        guard contains(peer) else { return [] }
        var result: [IPPrefix] = []
        routes4.forEach(of: peer.slot) { key, length in
            if let prefix = IPPrefix(.v4(key), length: length) { result.append(prefix) }
        }
        routes6.forEach(of: peer.slot) { key, length in
            if let prefix = IPPrefix(.v6(key), length: length) { result.append(prefix) }
        }
        return result
    }

    /// Keeps an address for the driver: nothing is routed to it, and nothing from it is allowed, whoever has its network.
    public mutating func reserve(_ address: IPAddress) {
        switch address {
        case .v4(let key): routes4.insert(key, length: 32, owner: Self.reserved)
        case .v6(let key): routes6.insert(key, length: 128, owner: Self.reserved)
        }
    }

    /// Gives back an address that ``reserve(_:)`` took.
    public mutating func release(_ address: IPAddress) {
        switch address {
        case .v4(let key): routes4.remove(key, length: 32, owner: Self.reserved)
        case .v6(let key): routes6.remove(key, length: 128, owner: Self.reserved)
        }
    }

    /// The number of prefixes of all peers.
    public var allowedIPCount: Int { routes4.count + routes6.count }

    /// Where the peer is now: as configured, or as it roamed.
    public func endpoint(of peer: PeerIndex) -> Endpoint? {
        contains(peer) ? peers[peer.slot].endpoint : nil
    }

    /// What moved through the peer.
    public func traffic(of peer: PeerIndex) -> PeerTraffic? {
        contains(peer) ? peers[peer.slot].traffic : nil
    }

    /// Whether packets to the peer can be sealed now.
    public func hasSession(with peer: PeerIndex, now: Instant) -> Bool {
        guard contains(peer), peers[peer.slot].current != Self.none else { return false }
        return sessions[peers[peer.slot].current].isAlive(now)
    }

    /// The number of sessions in memory, of all peers.
    public var sessionCount: Int { indices.count }
}

// SAFETY: the value owns its storage alone; the driver's mutex orders every access.
extension Transport: @unchecked Sendable {}
