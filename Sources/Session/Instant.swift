/// A point in time on the driver's clock (CLOCK_BOOTTIME in the manager, a virtual one in tests).
///
/// The machine never reads a clock; it compares the instants that it is given.
public struct Instant: Sendable, Hashable, Comparable {
    /// Nanoseconds since the clock's start.
    public let nanoseconds: UInt64

    /// Makes an instant from the clock's nanoseconds.
    public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// The instant `duration` later; a negative duration is none, and one beyond the clock's range is the range's end.
    public static func + (instant: Instant, duration: Duration) -> Instant {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0 else { return instant }
        let (whole, overflowed) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflowed else { return Instant(nanoseconds: .max) }
        let (sum, beyond) = instant.nanoseconds.addingReportingOverflow(whole)
        guard !beyond else { return Instant(nanoseconds: .max) }
        let (total, past) = sum.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
        return Instant(nanoseconds: past ? .max : total)
    }

    /// How long after `earlier` this instant is; zero when it is not later.
    public func duration(since earlier: Instant) -> Duration {
        guard nanoseconds > earlier.nanoseconds else { return .zero }
        let (seconds, rest) = (nanoseconds - earlier.nanoseconds).quotientAndRemainder(dividingBy: 1_000_000_000)
        return .seconds(Int64(seconds)) + .nanoseconds(Int64(rest))
    }

    public static func < (earlier: Instant, later: Instant) -> Bool { earlier.nanoseconds < later.nanoseconds }
}
