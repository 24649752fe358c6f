import PacketPath
import WireGuard

/// What the data threads did, copied out by them when they are about to sleep.
struct EngineStatistics: Sendable {
    var transmit = PathCounters()
    var receive = PathCounters()
    /// Drops by the protocol's reasons, per thread.
    var transmitDrops = DropCounters()
    var receiveDrops = DropCounters()
    var controlDrops = DropCounters()

    /// The protocol's drops of all threads.
    var drops: DropCounters {
        var sum = transmitDrops
        sum.add(receiveDrops)
        sum.add(controlDrops)
        return sum
    }
}
