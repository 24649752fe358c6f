import SettingsPush
import Synchronization
import WireGuard

/// A peer as the control plane knows it.
struct ControlPeer {
    let key: PublicKey
    let address: IPAddress
}

/// The control plane's part of the loop: its messages, its sessions, its time.
///
/// The control addresses of both ends are reserved in the routes. So a packet from the interface to one finds no peer, a packet
/// from a peer with one fails the check of its source, and only what failed is looked at: the path of data costs no more.
extension ControlLoop {
    mutating func startControlPlane() {
        guard let plane else { return }
        engine.controlPackets.withLock { $0.open() }
        plane.start(now: Clock.now())
    }

    /// Does what the control plane waits for.
    mutating func serveControlPlane(_ now: Moment) {
        guard let plane else { return }
        for packet in engine.controlPackets.withLock({ $0.takeAll() }) { receive(packet, plane, now.instant) }
        if engine.takeControlPlaneWish() { plane.handleWake(now: now.instant) }
        if let next = plane.nextTimeout, next <= now.instant { plane.handleTimeout(now: now.instant) }
        while let output = plane.pollOutput() { obey(output, now) }
    }

    /// Only a message from the control address of the very peer is one.
    private func receive(_ packet: ControlPacketQueue.Packet, _ plane: any ControlPlane, _ now: Instant) {
        guard let peer = controlPeers[packet.peer], let controlAddress,
            let message = ControlPacket.message(in: packet.bytes, from: peer.address, to: controlAddress)
        else { return }
        plane.handleMessage(message, from: peer.key, now: now)
    }

    private mutating func obey(_ output: ControlPlaneOutput, _ now: Moment) {
        switch output {
        case .send(let message, let key):
            guard isUp, let peer = device.peer(named: key), let known = controlPeers[peer], let controlAddress else {
                return
            }
            engine.give(.send(ControlPacket.make(message: message, from: controlAddress, to: known.address), peer))
        case .connect(let key):
            guard isUp, let peer = device.peer(named: key) else { return }
            let hasSession = engine.shared.withLock { $0.transport.hasSession(with: peer, now: now.instant) }
            if !hasSession { engine.give(.flush(peer, keepaliveIfEmpty: true)) }
        case .change(let settings):
            var endpoints: [PublicKey: Endpoint] = [:]
            for peer in settings.peers {
                if case .address(let endpoint)? = peer.endpoint { endpoints[peer.publicKey] = endpoint }
            }
            apply(settings, endpoints)
        }
    }

    /// Tells the control plane what an action means to it.
    mutating func noteForPlane(_ action: Action, _ now: Instant) {
        switch action {
        case .addPeer(let peer, _):
            guard let key = device.description(of: peer)?.publicKey else { return }
            let address = ControlPacket.address(of: key)
            let known = ControlPeer(key: key, address: address)
            controlPeers[peer] = known
            engine.shared.withLock { $0.transport.reserve(known.address) }
        case .removePeer(let peer):
            guard let known = controlPeers.removeValue(forKey: peer) else { return }
            engine.shared.withLock { $0.transport.release(known.address) }
            engine.controlPackets.withLock { $0.forget(peer) }
        // The answer to our handshake came.
        case .flushStaged(let peer, _): noteSession(with: peer, now)
        case .giveUp(let peer), .expireKeys(let peer):
            if let known = controlPeers[peer] { plane?.sessionLost(known.key, now: now) }
        case .setEndpoint, .transmit, .noteReceived, .install, .clearAwaitedReply, .sendKeepalive, .dropStaged: break
        }
    }

    func noteSession(with peer: PeerIndex, _ now: Instant) {
        if let known = controlPeers[peer] { plane?.sessionUp(known.key, now: now) }
    }

    /// Reserves our own address, which follows from our key.
    mutating func reserveControlAddress() {
        let address = device.publicKey.map { ControlPacket.address(of: $0) }
        guard address != controlAddress else { return }
        let former = controlAddress
        controlAddress = address
        engine.shared.withLock { shared in
            if let former { shared.transport.release(former) }
            if let address { shared.transport.reserve(address) }
        }
    }
}
