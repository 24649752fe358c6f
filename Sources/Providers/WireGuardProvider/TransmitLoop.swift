import PacketPath
import Synchronization
import WireGuard

/// The thread from the TUN to UDP.
///
/// It reads a super-packet, asks `Transport` once for its peer, key and counters, and seals its segments into the train;
/// the train goes out when nothing waits in the TUN, or when the next packet does not fit into it.
struct TransmitLoop: ~Copyable {
    /// Packets read before orders and stop are looked at again.
    private static let readsPerTurn = 64

    private let engine: Engine
    private var path: TransmitPath
    private var poller = Poller()
    private var staged = StagedPackets()
    private var drops = DropCounters()
    private var view = SocketExchange.View()
    /// Where the train goes, and who it is for.
    private var train: (endpoint: Endpoint, source: LocalAddress?, peer: PeerIndex)?
    private var mtu = 0

    init(_ engine: Engine, _ path: consuming TransmitPath) {
        self.engine = engine
        self.path = path
        poller.add(engine.tun.descriptor)
        poller.add(engine.transmitWake.descriptor)
    }

    mutating func run() {
        while engine.isRunning {
            // The train is empty here.
            _ = engine.exchange.renew(&view, for: .transmit)
            let now = Clock.now()
            mtu = engine.mtu.load(ordering: .relaxed)
            obeyOrders(now)
            switch drain(now) {
            case .more: continue
            case .empty: wait()
            case .closed: return waitForStop()
            }
        }
        publishStatistics()
    }

    private enum Drained { case more, empty, closed }

    private mutating func drain(_ now: Instant) -> Drained {
        for _ in 0..<Self.readsPerTurn {
            switch path.read(from: engine.tun) {
            case .packet: forward(now)
            case .dropped: continue
            case .empty:
                flush()
                return .empty
            case .closed:
                flush()
                return .closed
            case .failed:
                // The interface is down (EIO): wait until it says that it can be read.
                flush()
                return .empty
            }
        }
        flush()
        return .more
    }

    private func publishStatistics() {
        engine.statistics.withLock { $0.transmit = drops }
    }

    private mutating func wait() {
        publishStatistics()
        _ = poller.wait(nanoseconds: nil)
        if poller.ready(1).contains(.readable) { engine.transmitWake.clear() }
        // POLLERR stays while the interface is deleted; the next read then says so.
    }

    private mutating func waitForStop() {
        poller.replace(-1, at: 0)
        engine.tellInterfaceGone()
        while engine.isRunning {
            _ = engine.exchange.renew(&view, for: .transmit)
            wait()
        }
        publishStatistics()
    }

    // MARK: A packet's way

    private mutating func forward(_ now: Instant) {
        let packet = path.packet
        let bytes = packet.sealedBytes(mtu: mtu)
        var granted: WireGuard.SealOutcome?
        var source: LocalAddress?
        let (peer, wakes) = engine.shared.withLock { shared -> (PeerIndex?, Bool) in
            guard let peer = shared.transport.peer(for: WireGuard.IPAddress(packet.destination)) else {
                return (nil, false)
            }
            // Packets that were here first go first.
            if staged.holds(peer) { return (peer, false) }
            granted = shared.beginSeal(to: peer, packets: packet.segmentCount, bytes: bytes, now, &source)
            return (peer, shared.transport.takeWakeup())
        }
        guard let peer else { return drops[.noRoute] += UInt64(packet.segmentCount) }
        if wakes { engine.controlWake.signal() }
        switch granted {
        case .seal(let grant): seal(grant, source)
        case .noSession: stage(peer)
        case .drop(let reason): drops[reason] += UInt64(packet.segmentCount)
        case nil:
            stage(peer)
            sendStaged(peer, now)
        }
    }

    private mutating func seal(_ grant: SealGrant, _ source: LocalAddress?) {
        direct(grant, source)
        let key = AEADKey(words: grant.key.words)
        let prefix = DataHeader(receiverIndex: grant.receiverIndex, counter: 0).words.0
        while path.seal(key: key, prefix: prefix, firstCounter: grant.firstCounter, mtu: mtu) == .trainFull { flush() }
    }

    /// Makes the train one to this peer, by sending what is in it when it is another's.
    private mutating func direct(_ grant: SealGrant, _ source: LocalAddress?) {
        if let train, train.peer == grant.peer, train.endpoint == grant.endpoint, train.source == source,
            path.tag == UInt64(grant.receiverIndex)
        {
            return
        }
        flush()
        train = (grant.endpoint, source, grant.peer)
        path.begin(to: grant.endpoint.onPath, from: source, tag: UInt64(grant.receiverIndex))
    }

    private mutating func flush() {
        guard !path.isEmpty, let (endpoint, source, peer) = train else { return }
        guard let socket = view.sockets.socket(for: endpoint) else {
            drops[.noEndpoint] += UInt64(path.trainShape.count)
            return path.discardTrain()
        }
        let outcome = path.flush(to: socket)
        guard outcome.sourceCleared else { return }
        // The address that the peer spoke to is gone: let the kernel choose until the peer is heard again.
        train = (endpoint, nil, peer)
        engine.shared.withLock { shared in
            let slot = Int(peer.slot)
            if slot < shared.sources.count, shared.sources[slot] == source { shared.sources[slot] = nil }
        }
    }

    // MARK: Packets that wait for a session

    private mutating func stage(_ peer: PeerIndex) {
        while let segment = path.takeSegment() {
            let dropped = staged.stage(segment.byteArray, for: peer)
            drops[.queueFull] += UInt64(dropped)
        }
    }

    private mutating func obeyOrders(_ now: Instant) {
        let orders = engine.orders.takeAll()
        for order in orders {
            switch order {
            case .drop(let peer): drops[.sessionExpired] += UInt64(staged.take(peer).count)
            case .send(let packet, let peer):
                drops[.queueFull] += UInt64(staged.stage(packet, for: peer))
                sendStaged(peer, now)
            case .flush(let peer, let keepaliveIfEmpty):
                if staged.holds(peer) {
                    sendStaged(peer, now)
                } else if keepaliveIfEmpty {
                    sendKeepalive(peer, now)
                }
            }
        }
        if !orders.isEmpty { flush() }
    }

    private mutating func sendStaged(_ peer: PeerIndex, _ now: Instant) {
        let packets = staged.take(peer)
        for (index, packet) in packets.enumerated() {
            guard path.load(packet.rawSpan) == .packet else { continue }
            let (granted, source) = grantOne(peer, bytes: path.packet.sealedBytes(mtu: mtu), .data, now)
            switch granted {
            case .seal(let grant): seal(grant, source)
            case .noSession:
                // Put back as they were: a session that comes up meanwhile must not let the later ones pass.
                for packet in packets[index...] { drops[.queueFull] += UInt64(staged.stage(packet, for: peer)) }
                return
            case .drop(let reason): drops.count(reason)
            }
        }
    }

    /// Asks for the counter of one datagram whose peer is known.
    private func grantOne(
        _ peer: PeerIndex, bytes: Int, _ kind: TrafficKind, _ now: Instant
    ) -> (WireGuard.SealOutcome, LocalAddress?) {
        var source: LocalAddress?
        let (granted, wakes) = engine.shared.withLock { shared in
            let granted = shared.beginSeal(to: peer, packets: 1, bytes: bytes, kind: kind, now, &source)
            return (granted, shared.transport.takeWakeup())
        }
        if wakes { engine.controlWake.signal() }
        return (granted, source)
    }

    private mutating func sendKeepalive(_ peer: PeerIndex, _ now: Instant) {
        let (granted, source) = grantOne(peer, bytes: MessageSize.keepalive, .keepalive, now)
        guard case .seal(let grant) = granted else { return }
        direct(grant, source)
        let key = AEADKey(words: grant.key.words)
        let prefix = DataHeader(receiverIndex: grant.receiverIndex, counter: 0).words.0
        while path.sealEmpty(key: key, prefix: prefix, counter: grant.firstCounter) == .trainFull { flush() }
    }
}

extension Engine.Shared {
    /// Asks for counters, and for the local address that the datagrams leave from.
    @inline(__always)
    fileprivate mutating func beginSeal(
        to peer: PeerIndex, packets: Int, bytes: Int, kind: TrafficKind = .data, _ now: Instant,
        _ source: inout LocalAddress?
    ) -> WireGuard.SealOutcome {
        let outcome = transport.beginSeal(to: peer, packets: packets, bytes: bytes, kind: kind, now: now)
        if case .seal(let grant) = outcome { source = self.source(of: peer, for: grant.endpoint) }
        return outcome
    }
}

extension SuperPacket {
    /// The sum of the datagrams' sizes that the segments become.
    fileprivate func sealedBytes(mtu: Int) -> Int {
        guard segmentCount > 1 else { return MessageSize.dataOverhead + Padding.paddedLength(of: length, mtu: mtu) }
        let full = headerLength + segmentSize
        let last = length - (segmentCount - 1) * segmentSize
        return (segmentCount - 1) * (MessageSize.dataOverhead + Padding.paddedLength(of: full, mtu: mtu))
            + MessageSize.dataOverhead + Padding.paddedLength(of: last, mtu: mtu)
    }
}
