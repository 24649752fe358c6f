internal import ProviderKit

/// Sleep and wake of the machine.
extension SessionMachine {
    mutating func prepareForSleep(_ now: Instant) {
        guard sleepDeadline == nil else { return }
        let isActive = phase != .idle && phase != .ending
        let servesCalls = worker == .starting || worker == .running
        guard isActive, disconnectsOnSleep || servesCalls else { return emit(.allowSleep) }
        sleepDeadline = now + deadlines.sleep
        if disconnectsOnSleep { stopRequested(.sleep, now) } else { emit(.sleepProvider) }
    }

    mutating func sleepCompleted() {
        guard sleepDeadline != nil else { return log(.warning, "Ignored: the provider was ready for sleep again.") }
        allowPendingSleep()
    }

    mutating func wake() {
        allowPendingSleep()
        if worker == .starting || worker == .running { emit(.wakeProvider) }
    }

    /// Answers a sleep that waits.
    mutating func allowPendingSleep() {
        guard sleepDeadline != nil else { return }
        sleepDeadline = nil
        emit(.allowSleep)
    }
}
