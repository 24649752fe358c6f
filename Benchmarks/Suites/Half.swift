import WireGuard

/// The protocol core of one machine with one or many peers, both halves of it, on a virtual clock and without sockets.
struct Half: ~Copyable {
    var device = Device(timestamps: TimestampGuard(last: .zero))
    var transport = Transport()
    var random = CountingRandom()
    private(set) var peers: [PeerIndex] = []

    init(secret: PrivateKey) {
        device.setPrivateKey(secret, now: .zero)
    }

    init(secret: PrivateKey, peer: PublicKey, port: UInt16) {
        self.init(secret: secret)
        add(peer, prefixes: [], at: Half.endpoint(3 - port))
    }

    static func endpoint(_ port: UInt16) -> Endpoint {
        Endpoint(.v4(0xc000_0200 | UInt32(port)), port: 51820, scope: 0)
    }

    /// Adds a peer with its allowed IPs.
    mutating func add(_ key: PublicKey, prefixes: [IPPrefix], at endpoint: Endpoint?) {
        guard let peer = device.addPeer(key, endpoint: endpoint) else {
            preconditionFailure("a machine is not its own peer")
        }
        _ = drain(.zero)
        transport.insertAllowedIPs(prefixes, for: peer)
        peers.append(peer)
    }

    /// The initiation that a packet to the first peer calls for.
    mutating func initiate(_ time: Moment) throws -> [UInt8] {
        _ = transport.beginSeal(to: peers[0], packets: 1, bytes: 64, kind: .data, now: time.instant)
        _ = transport.takeWakeup()
        var message: [UInt8]?
        while let dirty = transport.takeDirty(now: time.instant) {
            device.handleDirty(dirty, now: time, random: &random)
            message = drain(time.instant) ?? message
        }
        guard let message else {
            throw BenchmarkError("the initiator does not initiate", advice: "This is a fault of the core or the suite.")
        }
        return message
    }

    /// Takes a handshake message and returns the answer to it.
    mutating func take(_ message: [UInt8], from source: Endpoint, at time: Moment) -> [UInt8]? {
        _ = device.handleDatagram(message.rawBytes, from: source, now: time, random: &random)
        return drain(time.instant)
    }

    func isConnected(at time: Moment) -> Bool { transport.hasSession(with: peers[0], now: time.instant) }

    /// Permission to send the first peer a packet, once there is a session.
    mutating func firstGrant(at time: Moment) -> SealGrant? {
        let outcome = transport.beginSeal(to: peers[0], packets: 1, bytes: 32, kind: .keepalive, now: time.instant)
        guard case .seal(let grant) = outcome else { return nil }
        return grant
    }

    /// Lets control look at the peers that the data half marked.
    mutating func service(at time: Moment) {
        _ = transport.takeWakeup()
        while let dirty = transport.takeDirty(now: time.instant) {
            device.handleDirty(dirty, now: time, random: &random)
            _ = drain(time.instant)
        }
    }

    private mutating func drain(_ instant: Instant) -> [UInt8]? {
        var message: [UInt8]?
        while let action = device.pollAction() {
            if case .transmit(let bytes, _) = transport.apply(action, now: instant) { message = bytes }
        }
        return message
    }
}

/// Keys that only have to differ: a bijective mix of a counter.
///
/// For measuring, never for a tunnel.
struct CountingRandom: RandomSource {
    private var state: UInt64

    init(offset: UInt64 = 0) { state = offset }

    mutating func nextKey() -> Key256 {
        var words = SIMD4<UInt64>()
        for index in words.indices {
            state &+= 0x9e37_79b9_7f4a_7c15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
            words[index] = mixed ^ (mixed >> 31)
        }
        return Key256(words: words)
    }
}
