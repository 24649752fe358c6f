/// The state of the virtual interface, for tunnels whose interface others take up and down.
extension Device {
    /// Ends all sessions and handshakes because the interface is down; nothing is sent until ``resume(now:)``.
    ///
    /// The driver neither polls timers nor sends while the interface is down.
    public mutating func suspend() {
        for slot in byKey.values {
            abandonHandshake(slot)
            peers[slot].lastHandshakeSent = .zero
            peers[slot].wipeAt = .distantFuture
            peers[slot].stamps.owesReplySince = .zero
            peers[slot].stamps.awaitsReplySince = .zero
            let peer = index(slot)
            queue(.expireKeys(peer))
            queue(.giveUp(peer))
            queue(.clearAwaitedReply(peer))
            reschedule(slot)
        }
    }

    /// Greets the peers that want keepalives because the interface is up.
    public mutating func resume(now: Instant) {
        for slot in byKey.values where peers[slot].keepaliveInterval > 0 {
            peers[slot].keepaliveBase = now
            queue(.sendKeepalive(index(slot)))
            reschedule(slot)
        }
    }
}
