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

    private let engine: Engine
    private var device = Device(timestamps: TimestampGuard(last: .zero))
    private var random = SystemRandom()
    private var poller = Poller()
    /// What is being answered.
    private var answering: Question?

    init(_ engine: Engine, _ configuration: Configuration, _ endpoints: [PublicKey: Endpoint]) {
        self.engine = engine
        poller.add(engine.controlWake.descriptor)
        let now = Clock.moment()
        device.setPrivateKey(configuration.interface.privateKey, now: now.instant)
        for peer in configuration.peers {
            // Our own key is no peer, as with wg(8).
            guard let index = device.addPeer(peer.publicKey, endpoint: endpoints[peer.publicKey]) else { continue }
            device.setPresharedKey(peer.presharedKey, of: index)
            device.setKeepaliveInterval(peer.persistentKeepalive, of: index, now: now.instant)
            perform(now)
            engine.shared.withLock { shared in
                while shared.sources.count <= Int(index.slot) { shared.sources.append(nil) }
                shared.transport.insertAllowedIPs(peer.allowedIPs, for: index)
            }
        }
    }

    mutating func run() {
        while engine.isRunning {
            answerHandshakes()
            let now = Clock.moment()
            while let dirty = engine.shared.withLock({ $0.transport.takeDirty(now: now.instant) }) {
                device.handleDirty(dirty, now: now, random: &random)
                perform(now)
            }
            while let peer = device.pollDuePeer(now.instant) {
                guard let stamps = engine.shared.withLock({ $0.transport.takeStamps(of: peer, now: now.instant) })
                else { continue }
                device.handleTimeout(peer, stamps: stamps, now: now, random: &random)
                perform(now)
            }
            answerInquiries()
            wait(now.instant)
        }
        publishStatistics()
    }

    private func publishStatistics() {
        let drops = device.drops
        engine.statistics.withLock { $0.control = drops }
    }

    private mutating func wait(_ now: Instant) {
        publishStatistics()
        // The MTU may be changed from outside; padding must not exceed it for long.
        if let mtu = engine.tun.mtu { engine.mtu.store(mtu, ordering: .relaxed) }
        let timeout = device.nextTimeout.map { Int64(clamping: ($0 - now).nanoseconds) }
        guard poller.wait(nanoseconds: timeout) else { return }
        engine.controlWake.clear()
    }

    private mutating func answerHandshakes() {
        while engine.isRunning {
            var depth = 0
            let next = engine.handshakes.withLock { queue in
                depth = queue.depth
                return queue.pop()
            }
            guard let message = next else { return }
            let now = Clock.moment()
            device.noteQueue(depth: depth, capacity: HandshakeQueue.capacity, now: now.instant)
            answering = Question(endpoint: message.from, source: message.to)
            _ = message.withBytes { device.handleDatagram($0, from: message.from, now: now, random: &random) }
            perform(now)
            answering = nil
        }
    }

    /// Applies what the device decided and does what remains outside of the mutex.
    private mutating func perform(_ now: Moment) {
        while let action = device.pollAction() {
            var source: LocalAddress?
            let directive = engine.shared.withLock { shared in
                let directive = shared.transport.apply(action, now: now.instant)
                source = shared.source(for: action, directive, answering: answering)
                return directive
            }
            switch directive {
            case .none: break
            case .transmit(let bytes, let endpoint): send(bytes, to: endpoint, from: source)
            case .sendKeepalive(let peer): engine.give(.flush(peer, keepaliveIfEmpty: true))
            case .flushStaged(let peer, let keepalive): engine.give(.flush(peer, keepaliveIfEmpty: keepalive))
            case .dropStaged(let peer): engine.give(.drop(peer))
            }
        }
        if engine.shared.withLock({ $0.transport.takeWakeup() }) { engine.controlWake.signal() }
    }

    private func send(_ bytes: [UInt8], to endpoint: Endpoint, from source: LocalAddress?) {
        guard let socket = engine.sockets.socket(for: endpoint) else { return }
        // Handshake messages carry DSCP AF41, as the kernel's implementation marks them (0x88), ECN not capable.
        _ = socket.sendDatagram(bytes.rawSpan, to: endpoint.onPath, from: source, trafficClass: 0x88)
    }

    // MARK: Questions

    private mutating func answerInquiries() {
        let waiting = engine.inquiries.takeAll()
        guard !waiting.isEmpty else { return }
        let text = runningConfiguration()
        for inquiry in waiting { inquiry.answer(text) }
    }

    /// The running configuration in the form of WireGuard's control protocol, without any secret.
    private func runningConfiguration() -> String {
        var lines = ["listen_port=\(engine.sockets.ipv4?.port ?? engine.sockets.ipv6?.port ?? 0)"]
        for peer in device.allPeers {
            guard let description = device.description(of: peer) else { continue }
            lines.append("public_key=\(description.publicKey.key.hex)")
            engine.shared.withLock { shared in
                if let endpoint = shared.transport.endpoint(of: peer) { lines.append("endpoint=\(endpoint)") }
                if let traffic = shared.transport.traffic(of: peer) {
                    lines += ["rx_bytes=\(traffic.receivedBytes)", "tx_bytes=\(traffic.sentBytes)"]
                }
                lines += shared.transport.allowedIPs(of: peer).map { "allowed_ip=\($0)" }
            }
            lines.append("persistent_keepalive_interval=\(description.keepaliveInterval)")
            if let last = description.lastHandshake {
                lines += [
                    "last_handshake_time_sec=\(last.unixSeconds)", "last_handshake_time_nsec=\(last.nanoseconds)",
                ]
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension Engine.Shared {
    /// The local address to send from: the one that the message being answered came to, else the peer's last one.
    fileprivate mutating func source(
        for action: Action, _ directive: Directive, answering: ControlLoop.Question?
    ) -> LocalAddress? {
        if case .noteReceived(let peer, _, let endpoint) = action, let answering, answering.endpoint == endpoint {
            note(answering.source, of: peer)
        }
        guard case .transmit(_, let endpoint) = directive else { return nil }
        if let answering, answering.endpoint == endpoint { return answering.source }
        guard case .transmit(_, .peer(let peer)) = action else { return nil }
        return source(of: peer, for: endpoint)
    }
}
