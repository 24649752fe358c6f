@testable import WireGuard

/// A whole peer as a driver would run it: both halves, staging, single-packet crypto; no clock and no socket.
final class Machine {
    var device = Device(timestamps: TimestampGuard(last: .zero))
    var transport = Transport()
    var random: SplitMix
    var address: Endpoint
    var staged: [PeerIndex: [[UInt8]]] = [:]
    var outbox: [(bytes: [UInt8], to: Endpoint)] = []
    var delivered: [[UInt8]] = []
    var drops = DropCounters()
    var keepalivesSent = 0
    var initiationsSent: [Instant] = []
    var wakeups = 0
    /// How far the wall clock of this machine is ahead of the right time, in seconds.
    var clockError: Int64 = 0
    /// Every nonce that was used, by key: a second use is a broken invariant.
    private var nonces: Set<[UInt64]> = []
    private(set) var reusedNonces = 0

    init(seed: UInt64, key: PrivateKey, address: Endpoint) {
        random = SplitMix(seed: seed)
        self.address = address
        device.setPrivateKey(key, now: .zero)
        drain(Instant(nanoseconds: 1))
    }

    /// Adds a peer that owns a /32 and a /128.
    func add(_ key: PublicKey, at endpoint: Endpoint?, owning prefixes: [IPPrefix], now: Instant) -> PeerIndex? {
        guard let peer = device.addPeer(key, endpoint: endpoint) else { return nil }
        drain(now)
        transport.insertAllowedIPs(prefixes, for: peer)
        return peer
    }

    /// Both clocks of this machine.
    func moment(_ now: Instant) -> Moment {
        var moment = Moment.at(now)
        moment.wallClock.seconds &+= UInt64(bitPattern: clockError)
        return moment
    }

    /// Ends the machine and starts it again with nothing but its key, its peers and what it had stored.
    func restart(_ stored: TAI64N, with peers: [(PublicKey, Endpoint?, [IPPrefix])], now: Instant) {
        let key = device.privateKey
        device = Device(timestamps: TimestampGuard(last: stored))
        transport = Transport()
        staged = [:]
        device.setPrivateKey(key, now: now)
        for (key, endpoint, prefixes) in peers { _ = add(key, at: endpoint, owning: prefixes, now: now) }
    }

    // Expectation macros take no noncopyable values.
    var publicKey: PublicKey? { device.publicKey }
    var privateKey: PrivateKey? { device.privateKey }
    func traffic(of peer: PeerIndex) -> PeerTraffic? { transport.traffic(of: peer) }

    func send(_ packet: [UInt8], now: Instant) {
        guard let inner = InnerPacket(packet) else { return drops.count(.badInnerPacket) }
        guard let peer = transport.peer(for: inner.destination) else { return drops.count(.noRoute) }
        seal(packet, to: peer, .data, now)
        service(now)
    }

    func receive(_ datagram: [UInt8], from source: Endpoint, now: Instant) {
        if let header = DataHeader(datagram) {
            open(datagram, header, from: source, now)
        } else {
            _ = device.handleDatagram(datagram.rawBytes, from: source, now: moment(now), random: &random)
        }
        service(now)
    }

    /// Runs control: dirty peers, due timers, actions.
    func service(_ now: Instant) {
        drain(now)
        if transport.takeWakeup() { wakeups += 1 }
        while let dirty = transport.takeDirty(now: now) {
            device.handleDirty(dirty, now: moment(now), random: &random)
            drain(now)
        }
        while let peer = device.pollDuePeer(now) {
            guard let stamps = transport.takeStamps(of: peer, now: now) else { continue }
            device.handleTimeout(peer, stamps: stamps, now: moment(now), random: &random)
            drain(now)
        }
        if transport.takeWakeup() { service(now) }
    }

    func drain(_ now: Instant) {
        while let action = device.pollAction() {
            switch transport.apply(action, now: now) {
            case .none: break
            case .transmit(let bytes, let endpoint):
                if MessageKind(bytes) == .initiation { initiationsSent.append(now) }
                outbox.append((bytes, endpoint))
            case .sendKeepalive(let peer): seal([], to: peer, .keepalive, now)
            case .dropStaged(let peer): staged[peer] = nil
            case .flushStaged(let peer, let keepaliveIfEmpty): flush(peer, keepaliveIfEmpty, now)
            }
        }
    }

    private func flush(_ peer: PeerIndex, _ keepaliveIfEmpty: Bool, _ now: Instant) {
        let packets = staged.removeValue(forKey: peer) ?? []
        if packets.isEmpty, keepaliveIfEmpty { seal([], to: peer, .keepalive, now) }
        for packet in packets { seal(packet, to: peer, .data, now) }
    }

    private func seal(_ packet: [UInt8], to peer: PeerIndex, _ kind: TrafficKind, _ now: Instant) {
        let padded = Padding.paddedLength(of: packet.count, mtu: 1420)
        switch transport.beginSeal(
            to: peer, packets: 1, bytes: padded + MessageSize.dataOverhead, kind: kind, now: now)
        {
        case .drop(let reason): drops.count(reason)
        case .noSession(let peer):
            if kind == .data, staged[peer, default: []].count < 128 { staged[peer, default: []].append(packet) }
        case .seal(let grant):
            if kind == .keepalive { keepalivesSent += 1 }
            let nonce = [grant.key.words[0], grant.key.words[1], grant.firstCounter]
            if !nonces.insert(nonce).inserted { reusedNonces += 1 }
            let header = DataHeader(receiverIndex: grant.receiverIndex, counter: grant.firstCounter)
            let datagram = TransportMessage.seal(packet, paddedTo: padded, key: grant.key, header: header)
            outbox.append((datagram, grant.endpoint))
        }
    }

    private func open(_ datagram: [UInt8], _ header: DataHeader, from source: Endpoint, _ now: Instant) {
        guard case .open(let grant) = transport.beginOpen(receiverIndex: header.receiverIndex, now: now) else {
            return drops.count(.unknownIndex)
        }
        guard let packet = TransportMessage.open(datagram, key: grant.key) else {
            return drops.count(.authenticationFailed)
        }
        if let reason = transport.accept(grant.session, counter: header.counter) { return drops.count(reason) }
        if !packet.isEmpty {
            if let inner = InnerPacket(packet) {
                if transport.isAllowed(source: inner.source, from: grant.peer) {
                    delivered.append(Array(packet[..<inner.length]))
                } else {
                    drops.count(.sourceNotAllowed)
                }
            } else {
                drops.count(.badInnerPacket)
            }
        }
        var totals = OpenTotals()
        totals.add(datagram: datagram.count)
        if transport.finishOpen(grant.session, totals, from: source, now: now) { flush(grant.peer, false, now) }
    }
}
