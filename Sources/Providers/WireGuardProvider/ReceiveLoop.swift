import PacketPath
import SettingsPush
import Synchronization
import WireGuard

/// The thread from UDP to the TUN.
///
/// Datagrams come in trains; each run of one session is opened with one look at `Transport` before and one after. What is
/// no transport data goes to the control loop.
struct ReceiveLoop: ~Copyable {
    /// Receive calls before the TUN gets what is joined so far, and stop is looked at again.
    private static let receivesPerTurn = 16

    private let engine: Engine
    private var path: ReceivePath
    private var poller = Poller()
    private var drops = DropCounters()
    private var view = SocketExchange.View()

    init(_ engine: Engine, _ path: consuming ReceivePath) {
        self.engine = engine
        self.path = path
        poller.add(-1)
        poller.add(-1)
        poller.add(engine.receiveWake.descriptor)
    }

    mutating func run() {
        while engine.isRunning {
            if engine.exchange.renew(&view, for: .receive) {
                poller.replace(view.sockets.ipv4?.descriptor ?? -1, at: 0)
                poller.replace(view.sockets.ipv6?.descriptor ?? -1, at: 1)
            }
            let now = Clock.now()
            var received = false
            if let socket = view.sockets.ipv4 { received = drain(socket, now) }
            if let socket = view.sockets.ipv6, drain(socket, now) { received = true }
            path.flush()
            if !received { wait() }
        }
        publishStatistics()
    }

    private func publishStatistics() {
        var all = drops
        all[.congestionMark] += path.counters.drops(.congestionMark)
        all[.deliveryFailed] += path.counters.drops(.noBuffer) + path.counters.drops(.writeError)
        all[.socketOverflow] += path.counters.kernelDrops
        engine.statistics.withLock { $0.receive = all }
    }

    private mutating func wait() {
        publishStatistics()
        _ = poller.wait(nanoseconds: nil)
        if poller.ready(2).contains(.readable) { engine.receiveWake.clear() }
    }

    /// Whether anything came.
    private mutating func drain(_ socket: UDPSocket, _ now: Instant) -> Bool {
        var received = false
        for _ in 0..<Self.receivesPerTurn {
            // A negative count is an error that the socket reports for an earlier send (ICMP): the next call is clean.
            let count = path.receive(from: socket)
            guard count > 0 else { return received || count < 0 }
            received = true
            for index in 0..<count { handle(path.train(index), now) }
        }
        return received
    }

    private mutating func handle(_ train: ReceivedTrain, _ now: Instant) {
        // One datagram without a byte, or with more than any message has.
        guard train.count > 0 else { return drops.count(.malformed) }
        var index = 0
        while index < train.count {
            let count = path.runLength(of: train, from: index)
            guard count > 0, let prefix = path.prefix(of: train, at: index), UInt32(truncatingIfNeeded: prefix) == 4
            else {
                handOver(train, index, now)
                index += 1
                continue
            }
            open(train, index, count, receiverIndex: UInt32(truncatingIfNeeded: prefix >> 32), now)
            index += count
        }
    }

    /// Opens a run of transport data of one session and delivers what is allowed.
    private mutating func open(
        _ train: ReceivedTrain, _ index: Int, _ count: Int, receiverIndex: UInt32, _ now: Instant
    ) {
        let outcome = engine.shared.withLock { $0.transport.beginOpen(receiverIndex: receiverIndex, now: now) }
        switch outcome {
        case .drop(let reason): drops[reason] += UInt64(count)
        case .open(let grant):
            let key = AEADKey(words: grant.key.words)
            path.open(train, from: index, count: count, key: key)
            finish(grant, train, now)
            path.commit()
        }
    }

    /// Gives a verdict on each opened packet, then notes the batch.
    private mutating func finish(_ grant: OpenGrant, _ train: ReceivedTrain, _ now: Instant) {
        let endpoint = Endpoint(train.from)
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
        if refused != 0 { takeControlPackets(refused, from: grant.peer, now) }
    }

    /// Gives control those of the refused packets that may be messages to it.
    private mutating func takeControlPackets(_ refused: UInt64, from peer: PeerIndex, _ now: Instant) {
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
    private mutating func handOver(_ train: ReceivedTrain, _ index: Int, _ now: Instant) {
        let datagram = path.datagram(train, index)
        guard let kind = MessageKind(datagram), kind != .data else { return drops.count(.malformed) }
        let endpoint = Endpoint(train.from)
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
