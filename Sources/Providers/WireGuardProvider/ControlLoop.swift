import PacketPath
import Synchronization
import WireGuard

/// The thread of handshakes, timers and configuration; it alone owns the `Device`.
struct ControlLoop: ~Copyable {
    /// Where a datagram came from and where it arrived, so that its answer leaves from there.
    fileprivate struct Question {
        let endpoint: Endpoint
        let source: LocalAddress?
    }

    /// Handshake messages that are answered before orders and timers get their turn, also under a flood.
    private static let messagesPerTurn = 64
    /// How long messages are let come together under load, in nanoseconds: a wake-up for each would cost the data threads
    /// more than the message does, and 64 refusals in each such while are enough.
    private static let gathering = 1_000_000

    let engine: Engine
    var device: Device
    /// Whether the interface is up; nothing is sent and no timer runs while it is not.
    var isUp: Bool
    private var random = SystemRandom()
    private var poller = Poller()
    /// Nil where the system has none: peers then keep their local address until a datagram cannot be sent from it.
    private let routes = try? RouteWatch()
    /// Until when changes of the routes wait.
    private var routesRest = Instant.zero
    /// What is being answered.
    private var answering: Question?
    let plane: (any ControlPlane)?
    /// The endpoints that are names.
    var names = EndpointNames.none
    /// The peers and their control addresses; empty without a control plane.
    var controlPeers: [PeerIndex: ControlPeer] = [:]
    /// Our own control address, as it is reserved.
    var controlAddress: WireGuard.IPAddress?

    init(
        _ engine: Engine, _ settings: ControlSettings, _ endpoints: [PublicKey: Endpoint], isUp: Bool,
        _ plane: (any ControlPlane)?, _ names: EndpointNames
    ) {
        self.engine = engine
        self.isUp = isUp
        device = Device(timestamps: engine.timestamps.restored())
        self.plane = plane
        poller.add(engine.controlWake.descriptor)
        poller.add(-1)
        apply(settings, endpoints)
        self.names = names
    }

    mutating func run() {
        startControlPlane()
        while engine.isRunning {
            let hasMore = answerHandshakes()
            obeyOrders()
            let now = Clock.moment()
            if isUp { keepTime(now) }
            serveControlPlane(now)
            publishStatistics()
            if hasMore || device.isUnderLoad(at: now.instant) {
                Clock.pause(nanoseconds: Self.gathering)
            } else {
                wait(now.instant)
            }
        }
    }

    /// Acts on what the data threads marked and on the timers that are due.
    private mutating func keepTime(_ now: Moment) {
        while let dirty = engine.shared.withLock({ $0.transport.takeDirty(now: now.instant) }) {
            device.handleDirty(dirty, now: now, random: &random)
            perform(now)
            if dirty.isConfirmed { noteSession(with: dirty.peer, now.instant) }
        }
        while let peer = device.pollDuePeer(now.instant) {
            guard let stamps = engine.shared.withLock({ $0.transport.takeStamps(of: peer, now: now.instant) })
            else { continue }
            device.handleTimeout(peer, stamps: stamps, now: now, random: &random)
            perform(now)
        }
    }

    private func publishStatistics() {
        let drops = device.drops
        engine.statistics.withLock { $0.control = drops }
    }

    private mutating func wait(_ now: Instant) {
        // The MTU may be changed from outside; padding must not exceed it for long.
        if let mtu = engine.tun.mtu { engine.mtu.store(mtu, ordering: .relaxed) }
        let isResting = now < routesRest
        poller.replace(isResting ? -1 : routes?.descriptor ?? -1, at: 1)
        let next = [isUp ? device.nextTimeout : nil, plane?.nextTimeout, isResting ? routesRest : nil]
            .compactMap(\.self).min()
        guard poller.wait(nanoseconds: next.map { Int64(clamping: $0 > now ? ($0 - now).nanoseconds : 0) }) else {
            return
        }
        engine.controlWake.clear()
        if let routes, !poller.ready(1).isEmpty, routes.takeChanges() {
            routesRest = reviewSources()
        }
    }

    /// Whether more messages wait.
    private mutating func answerHandshakes() -> Bool {
        for _ in 0..<Self.messagesPerTurn {
            var depth = 0
            let next = engine.handshakes.withLock { queue in
                depth = queue.depth
                return queue.pop()
            }
            guard let message = next else { return false }
            guard isUp else { continue }
            let now = Clock.moment()
            device.noteQueue(depth: depth, capacity: HandshakeQueue.capacity, now: now.instant)
            answering = Question(endpoint: message.from, source: message.to)
            _ = message.withBytes {
                device.handleDatagram(
                    $0, from: message.from, isNewcomer: message.isNewcomer, now: now, random: &random)
            }
            perform(now)
            answering = nil
        }
        return engine.handshakes.withLock { $0.depth > 0 }
    }

    /// Applies what the device decided and does what remains outside of the mutex.
    mutating func perform(_ now: Moment) {
        engine.timestamps.keep(&device.timestamps)
        while let action = device.pollAction() {
            if plane != nil { noteForPlane(action, now.instant) }
            if !names.isEmpty { noteForNames(action, now.instant) }
            var source: LocalAddress?
            let directive = engine.shared.withLock { shared in
                let directive = shared.transport.apply(action, now: now.instant)
                source = shared.source(for: action, directive, answering: answering)
                return directive
            }
            switch directive {
            case .none: break
            case .transmit(let bytes, let endpoint): send(bytes, to: endpoint, from: source)
            case .sendKeepalive(let peer): if isUp { engine.give(.flush(peer, keepaliveIfEmpty: true)) }
            case .flushStaged(let peer, let keepalive): engine.give(.flush(peer, keepaliveIfEmpty: keepalive))
            case .dropStaged(let peer): engine.give(.drop(peer))
            }
        }
        if engine.shared.withLock({ $0.transport.takeWakeup() }) { engine.controlWake.signal() }
    }

    private func send(_ bytes: [UInt8], to endpoint: Endpoint, from source: LocalAddress?) {
        guard let socket = engine.exchange.sockets.socket(for: endpoint) else { return }
        // Handshake messages carry DSCP AF41, as the kernel's implementation marks them (0x88), ECN not capable.
        _ = socket.sendDatagram(bytes.rawSpan, to: endpoint.onPath, from: source, trafficClass: 0x88)
    }
}

extension Engine.Shared {
    /// The local address to send from: the one that the message being answered came to, else the peer's last one.
    fileprivate mutating func source(
        for action: Action, _ directive: Directive, answering: ControlLoop.Question?
    ) -> LocalAddress? {
        switch action {
        case .addPeer(let peer, _), .setEndpoint(let peer, _): forgetSource(of: peer)
        case .noteReceived(let peer, _, let endpoint):
            if let answering, answering.endpoint == endpoint { note(answering.source, of: peer) }
        default: break
        }
        guard case .transmit(_, let endpoint) = directive else { return nil }
        if let answering, answering.endpoint == endpoint { return answering.source }
        guard case .transmit(_, .peer(let peer)) = action else { return nil }
        return source(of: peer, for: endpoint)
    }
}
