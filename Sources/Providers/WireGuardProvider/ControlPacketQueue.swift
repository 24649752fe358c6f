import SettingsPush
import WireGuard

/// Inner packets that may be control packets, on their way from the receive loop to the control loop.
///
/// One peer may have 64 waiting, and send no more than its budget: whatever it sends, the others are heard.
struct ControlPacketQueue {
    static let packetsPerPeer = 64
    static let capacity = 1024

    /// A packet and the peer whose session it came through.
    struct Packet: Sendable {
        let peer: PeerIndex
        let bytes: [UInt8]
    }

    private struct Share {
        var waiting = 0
        var budget: SendBudget
    }

    private var packets: [Packet] = []
    private var shares: [PeerIndex: Share] = [:]
    private var isOpen = false

    /// Takes packets from now on; without a control plane nobody wants them.
    mutating func open() { isOpen = true }

    /// Keeps a packet; false if nobody wants it, or the peer sends too much.
    mutating func push(_ bytes: [UInt8], from peer: PeerIndex, _ now: Instant) -> Bool {
        guard isOpen, packets.count < Self.capacity else { return false }
        var share = shares[peer] ?? Share(budget: SendBudget(at: now))
        guard share.waiting < Self.packetsPerPeer, share.budget.take(bytes.count, at: now) else { return false }
        share.waiting += 1
        shares[peer] = share
        packets.append(Packet(peer: peer, bytes: bytes))
        return true
    }

    /// Takes all that wait, oldest first.
    mutating func takeAll() -> [Packet] {
        for packet in packets { shares[packet.peer]?.waiting = 0 }
        defer { packets.removeAll(keepingCapacity: true) }
        return packets
    }

    /// Forgets a peer that was removed.
    mutating func forget(_ peer: PeerIndex) { shares[peer] = nil }
}
