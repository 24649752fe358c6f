import WireGuard

/// Time that never goes back, made of a clock that might: a step back counts as none.
struct SteadyClock: Sendable {
    private var last = Instant.zero
    /// What steps back have taken, and is added since.
    private var lag = TimeSpan(nanoseconds: 0)

    /// The steady time for the driver's.
    mutating func advance(to now: Instant) -> Instant {
        let steady = now + lag
        if steady < last { lag = lag + (last - steady) }
        last = max(last, steady)
        return last
    }

    /// The driver's time for a steady one.
    func driverTime(of steady: Instant) -> Instant {
        Instant(nanoseconds: steady.nanoseconds - min(lag.nanoseconds, steady.nanoseconds))
    }
}
