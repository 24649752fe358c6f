import PacketPath
import Synchronization
import WireGuard

/// Endpoints that are names, of peers that do not answer.
extension ControlLoop {
    /// Has the name of a peer looked up, on a thread of its own, when the peer has left initiations unanswered.
    mutating func noteForNames(_ action: Action, _ now: Instant) {
        guard case .transmit(let bytes, .peer(let peer)) = action, MessageKind(bytes.rawSpan) == .initiation,
            let key = device.description(of: peer)?.publicKey,
            let name = names.noteInitiation(to: key, received: receivedBytes(from: peer), now: now)
        else { return }
        // A thread that is not to be had is one for the next initiation to ask for.
        try? DataThread("wg-resolve") { [weak engine = self.engine, resolve = names.resolve] in
            engine?.put(.found(resolve(name), of: key))
        }.detach()
    }

    /// Tries a peer that is still silent where its name leads.
    mutating func use(_ found: [Endpoint], of key: PublicKey) {
        guard let peer = device.peer(named: key) else { return }
        let present = engine.shared.withLock { $0.transport.endpoint(of: peer) }
        let received = receivedBytes(from: peer)
        guard let next = names.next(of: key, among: found, after: present, received: received) else { return }
        device.setEndpoint(next, of: peer)
        perform(Clock.moment())
    }

    private func receivedBytes(from peer: PeerIndex) -> UInt64 {
        engine.shared.withLock { $0.transport.traffic(of: peer)?.receivedBytes ?? 0 }
    }
}
