import PacketPath
import Synchronization
import WireGuard

/// Reads the TUN and asks `Transport` once for each packet's peer, key and counters; packets without a session wait here.
///
/// Counters are granted in the order of reading.
struct TransmitReader: ~Copyable {
    /// Packets read before orders and stop are looked at again.
    static let readsPerTurn = 64

    private let engine: Engine
    /// Where the packets that were read before may still be on their way; nil when a packet is sent before the next is read.
    private let office: TicketOffice?
    private var poller = Poller()
    private var staged = StagedPackets()
    private var drops = DropCounters()
    private var mtu = 0
    private var isClosed = false

    init(_ engine: Engine, office: TicketOffice? = nil) {
        self.engine = engine
        self.office = office
        poller.add(engine.tun.descriptor)
        poller.add(engine.transmitWake.descriptor)
    }

    /// Begins a turn of reads: obeys the orders of the other threads.
    mutating func beginTurn(_ sender: inout Sender, _ now: Instant) {
        mtu = engine.mtu.load(ordering: .relaxed)
        let orders = engine.orders.takeAll()
        if orders.isEmpty { return }
        office?.wait(outstandingAtMost: 0)
        for order in orders {
            switch order {
            case .drop(let peer): drops[.sessionExpired] += UInt64(staged.take(peer).count)
            case .send(let packet, let peer):
                drops[.queueFull] += UInt64(staged.stage(packet, for: peer))
                sendStaged(peer, &sender, now)
            case .flush(let peer, let keepaliveIfEmpty):
                if staged.holds(peer) {
                    sendStaged(peer, &sender, now)
                } else if keepaliveIfEmpty, let permit = permitOne(peer, bytes: MessageSize.keepalive, .keepalive, now)
                {
                    sender.sealKeepalive(permit)
                }
            }
        }
        sender.flush()
    }

    /// Waits for the TUN, or for another thread's word.
    mutating func wait() {
        publishDrops()
        _ = poller.wait(nanoseconds: nil)
        if poller.ready(1).contains(.readable) { engine.transmitWake.clear() }
        // POLLERR stays while the interface is deleted; the next read then says so.
    }

    /// Stops waiting for the TUN, which is gone, and tells the engine's owner.
    mutating func close() {
        guard !isClosed else { return }
        isClosed = true
        poller.replace(-1, at: 0)
        engine.tellInterfaceGone()
    }

    /// Adds the drops to those of the engine.
    mutating func publishDrops() {
        engine.statistics.withLock { $0.transmit.add(drops) }
        drops = DropCounters()
    }

    /// Permission to seal the packet in the path; nil when the packet was staged or dropped.
    mutating func admit(_ sender: inout Sender, _ now: Instant) -> SealPermit? {
        let packet = sender.path.packet
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
        guard let peer else {
            drops[.noRoute] += UInt64(packet.segmentCount)
            return nil
        }
        if wakes { engine.controlWake.signal() }
        switch granted {
        case .seal(let grant): return SealPermit(grant: grant, source: source, mtu: mtu)
        case .noSession: stage(peer, &sender)
        case .drop(let reason): drops[reason] += UInt64(packet.segmentCount)
        case nil:
            stage(peer, &sender)
            office?.wait(outstandingAtMost: 0)
            sendStaged(peer, &sender, now)
        }
        return nil
    }

    // MARK: Packets that wait for a session

    private mutating func stage(_ peer: PeerIndex, _ sender: inout Sender) {
        while let segment = sender.path.takeSegment() {
            let dropped = staged.stage(segment.byteArray, for: peer)
            drops[.queueFull] += UInt64(dropped)
        }
    }

    private mutating func sendStaged(_ peer: PeerIndex, _ sender: inout Sender, _ now: Instant) {
        let packets = staged.take(peer)
        for (index, packet) in packets.enumerated() {
            guard sender.path.load(packet.rawSpan) == .packet else { continue }
            let bytes = sender.path.packet.sealedBytes(mtu: mtu)
            let (granted, source) = ask(peer, bytes: bytes, .data, now)
            switch granted {
            case .seal(let grant): sender.seal(SealPermit(grant: grant, source: source, mtu: mtu))
            case .noSession:
                // Put back as they were: a session that comes up meanwhile must not let the later ones pass.
                for packet in packets[index...] { drops[.queueFull] += UInt64(staged.stage(packet, for: peer)) }
                return
            case .drop(let reason): drops.count(reason)
            }
        }
    }

    private func permitOne(_ peer: PeerIndex, bytes: Int, _ kind: TrafficKind, _ now: Instant) -> SealPermit? {
        let (granted, source) = ask(peer, bytes: bytes, kind, now)
        guard case .seal(let grant) = granted else { return nil }
        return SealPermit(grant: grant, source: source, mtu: mtu)
    }

    /// Asks for the counter of one datagram whose peer is known.
    private func ask(
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
