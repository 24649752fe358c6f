import PacketPath
import SettingsPush
import Synchronization
import WireGuard

/// Opens the datagrams of receive calls and delivers them; what is no transport data goes to the control loop.
///
/// Each run of one session is opened with one look at `Transport` before and one after.
struct Opener: ~Copyable {
    private let engine: Engine
    private var path: ReceivePath
    private var drops = DropCounters()
    /// The path's counters at the last publishing.
    private var published = PathCounters()
    /// Trains of the last receive call that are not handled yet, and the first run of them where `work` opened it.
    private var trains = 0
    private var firstRun: (count: Int, grant: OpenGrant?)?
    private var now = Instant.zero

    init(_ engine: Engine, _ path: consuming ReceivePath) {
        self.engine = engine
        self.path = path
    }

    /// Receives up to `limit` trains: the datagrams of the first one, nil when nothing came.
    ///
    /// A negative count is an error that the socket reports for an earlier send (ICMP): the next call is clean.
    mutating func receive(
        from socket: UDPSocket, of sockets: inout ReceiveSockets, limit: Int, _ now: Instant
    ) -> (trains: Int, datagrams: Int) {
        path.overflow = sockets.overflow
        let count = path.receive(from: socket, limit: limit)
        sockets.overflow = path.overflow
        trains = max(0, count)
        self.now = now
        return (count, count > 0 ? path.train(0).count : 0)
    }

    /// Opens the first run, as much as one call opens.
    mutating func work() {
        let train = path.train(0)
        guard let run = run(of: train, at: 0) else { return }
        let grant = open(train, 0, run.count, run.receiverIndex)
        firstRun = (run.count, grant)
    }

    /// Delivers what came, after everything that was received before.
    mutating func finish() {
        handle()
        path.flush()
        publishDrops()
    }

    /// Delivers what came, but for super-packets that may still grow.
    mutating func handle() {
        for index in 0..<trains {
            let train = path.train(index)
            var start = 0
            if index == 0, let first = firstRun.take() {
                if let grant = first.grant { deliver(grant, train) }
                start = first.count
            }
            handle(train, from: start)
        }
        trains = 0
    }

    /// Writes the super-packets that may still grow.
    mutating func flush() { path.flush() }

    /// Adds the drops to those of the engine.
    mutating func publishDrops() {
        let counters = path.counters
        drops[.congestionMark] += counters.drops(.congestionMark) - published.drops(.congestionMark)
        drops[.deliveryFailed] += counters.drops(.noBuffer) - published.drops(.noBuffer)
        drops[.deliveryFailed] += counters.drops(.writeError) - published.drops(.writeError)
        drops[.socketOverflow] += counters.kernelDrops - published.kernelDrops
        published = counters
        engine.statistics.withLock { $0.receive.add(drops) }
        drops = DropCounters()
    }

    // MARK: Inside

    private mutating func handle(_ train: ReceivedTrain, from start: Int) {
        // One datagram without a byte, or with more than any message has.
        guard train.count > 0 else { return drops.count(.malformed) }
        var index = start
        while index < train.count {
            guard let run = run(of: train, at: index) else {
                handOver(train, index)
                index += 1
                continue
            }
            let grant = open(train, index, run.count, run.receiverIndex)
            if let grant { deliver(grant, train) }
            index += run.count
        }
    }

    /// The datagrams of one session that begin there, nil for what is no transport data.
    private func run(of train: ReceivedTrain, at index: Int) -> (count: Int, receiverIndex: UInt32)? {
        guard let prefix = path.prefix(of: train, at: index), UInt32(truncatingIfNeeded: prefix) == 4
        else { return nil }
        let count = path.runLength(of: train, from: index)
        return count > 0 ? (count, UInt32(truncatingIfNeeded: prefix >> 32)) : nil
    }

    /// Opens a run; nil when there is no key for it.
    private mutating func open(_ train: ReceivedTrain, _ index: Int, _ count: Int, _ receiverIndex: UInt32)
        -> OpenGrant?
    {
        let now = now
        let outcome = engine.shared.withLock { $0.transport.beginOpen(receiverIndex: receiverIndex, now: now) }
        switch outcome {
        case .drop(let reason):
            drops[reason] += UInt64(count)
            return nil
        case .open(let grant):
            let key = AEADKey(words: grant.key.words)
            path.open(train, from: index, count: count, key: key)
            return grant
        }
    }

    /// Gives a verdict on each opened packet, notes the batch, and delivers what is allowed.
    private mutating func deliver(_ grant: OpenGrant, _ train: ReceivedTrain) {
        let endpoint = Endpoint(train.from)
        let now = now
        // A bit for each packet whose source is not the peer's: control packets are among them.
        var refused: UInt64 = 0
        let (flushes, wakes) = engine.shared.withLock { shared in
            var totals = OpenTotals()
            var packets = path.packets
            for place in packets.indices {
                if let reason = shared.verdict(on: packets[place], grant, &totals) {
                    drops.count(reason)
                    packets[place].keep = false
                    if reason == .sourceNotAllowed { refused |= 1 << UInt64(place) }
                }
            }
            guard totals.packets > 0 else { return (false, false) }
            let flushes = shared.transport.finishOpen(grant.session, totals, from: endpoint, now: now)
            shared.note(train.to, of: grant.peer)
            return (flushes, shared.transport.takeWakeup())
        }
        if flushes { engine.give(.flush(grant.peer, keepaliveIfEmpty: false)) }
        if wakes { engine.controlWake.signal() }
        if refused != 0 { takeControlPackets(refused, from: grant.peer) }
        path.commit()
    }

    /// Gives control those of the refused packets that may be messages to it.
    private mutating func takeControlPackets(_ refused: UInt64, from peer: PeerIndex) {
        let now = now
        for place in 0..<ReceivePath.openCapacity where refused >> UInt64(place) & 1 != 0 {
            let packet = path.packets[place]
            let address = WireGuard.IPAddress(packet.source)
            guard packet.length <= ControlPacket.maximumByteCount, ControlPacket.isControlNetwork(address) else {
                continue
            }
            let taken = engine.controlPackets.withLock { $0.push(path.packetBytes(at: place), from: peer, now) }
            guard taken else { continue }
            drops[.sourceNotAllowed] -= 1
            engine.controlWake.signal()
        }
    }

    /// Gives control a datagram that is no transport data.
    ///
    /// The first MAC is tested here: that costs less than the hand-over, which a flood would make for every message.
    private mutating func handOver(_ train: ReceivedTrain, _ index: Int) {
        let datagram = path.datagram(train, index)
        guard let kind = MessageKind(datagram), kind != .data else { return drops.count(.malformed) }
        if kind != .cookieReply, let firstMAC = engine.firstMAC.withLock({ $0 }), !firstMAC.isValid(datagram) {
            return drops.count(.badFirstMAC)
        }
        let endpoint = Endpoint(train.from)
        let now = now
        let (taken, isFirst) = engine.handshakes.withLock { queue in
            let isFirst = queue.depth == 0
            return (queue.push(datagram, from: endpoint, to: train.to, now: now), isFirst)
        }
        if !taken { drops.count(.queueFull) }
        // Control takes all that wait, so those behind the first one need no signal, which under a flood is dear.
        if isFirst { engine.controlWake.signal() }
    }
}

extension Engine.Shared {
    /// Why an opened packet is not delivered, or nil; authentic and fresh ones are added to the totals either way.
    @inline(__always)
    fileprivate mutating func verdict(
        on packet: OpenedPacket, _ grant: OpenGrant, _ totals: inout OpenTotals
    ) -> WireGuard.DropReason? {
        guard packet.isAuthentic else { return .authenticationFailed }
        if let reason = transport.accept(grant.session, counter: packet.counter) { return reason }
        totals.add(datagram: packet.datagramLength)
        switch packet.status {
        case .packet:
            return transport.isAllowed(source: WireGuard.IPAddress(packet.source), from: grant.peer)
                ? nil : .sourceNotAllowed
        case .malformed: return .badInnerPacket
        case .empty, .congestionMark, .forged: return nil
        }
    }

    /// Keeps the local address that a peer was heard on.
    @inline(__always)
    mutating func note(_ local: LocalAddress?, of peer: PeerIndex) {
        let slot = Int(peer.slot)
        guard slot < sources.count, sources[slot] != local else { return }
        sources[slot] = local
    }
}
