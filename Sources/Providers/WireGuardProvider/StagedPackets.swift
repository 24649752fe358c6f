import WireGuard

/// Inner packets that wait for a session, per peer and bounded: 128 per peer, 8 MiB in all.
///
/// The oldest packet of a peer gives way to a new one, as the kernel's implementation does: what is newest is most
/// likely still wanted. Copies are the exception here; the path to a live session has none.
struct StagedPackets {
    static let packetsPerPeer = 128
    static let bytesInAll = 8 << 20

    private var queues: [PeerIndex: [[UInt8]]] = [:]
    private var bytes = 0

    /// Keeps a packet for `peer` and returns how many packets had to go for it.
    mutating func stage(_ packet: [UInt8], for peer: PeerIndex) -> Int {
        guard bytes + packet.count <= Self.bytesInAll else { return 1 }
        var queue = queues.removeValue(forKey: peer) ?? []
        var dropped = 0
        if queue.count >= Self.packetsPerPeer {
            bytes -= queue.removeFirst().count
            dropped = 1
        }
        bytes += packet.count
        queue.append(packet)
        queues[peer] = queue
        return dropped
    }

    /// Whether packets wait for `peer`.
    func holds(_ peer: PeerIndex) -> Bool { !queues.isEmpty && queues[peer] != nil }

    /// Takes the packets of `peer`, oldest first.
    mutating func take(_ peer: PeerIndex) -> [[UInt8]] {
        guard let queue = queues.removeValue(forKey: peer) else { return [] }
        bytes -= queue.reduce(0) { $0 + $1.count }
        return queue
    }
}
