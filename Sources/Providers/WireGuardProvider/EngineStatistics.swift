import WireGuard

/// What was dropped and why, brought by each thread before it sleeps; those that receive bring it after each turn.
struct EngineStatistics: Sendable {
    var transmit = DropCounters()
    var receive = DropCounters()
    var control = DropCounters()

    /// The drops of all threads.
    var drops: DropCounters {
        var sum = transmit
        sum.add(receive)
        sum.add(control)
        return sum
    }
}
