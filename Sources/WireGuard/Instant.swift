/// A point in time: nanoseconds of CLOCK_BOOTTIME, which also advances while the machine sleeps.
///
/// The core never reads a clock; the driver reads it once per batch and hands the value in.
public struct Instant: Sendable, Hashable, Comparable, BitwiseCopyable {
    /// Nanoseconds since boot.
    public var nanoseconds: UInt64

    /// Makes an instant from nanoseconds since boot.
    public init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// The instant that no deadline reaches: a timer that is off.
    public static let distantFuture = Instant(nanoseconds: .max)
    /// The instant of boot; in a stamp it means "never".
    public static let zero = Instant(nanoseconds: 0)

    public static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The later instant; it saturates at `distantFuture`.
    public static func + (left: Instant, right: TimeSpan) -> Instant {
        let (sum, overflow) = left.nanoseconds.addingReportingOverflow(right.nanoseconds)
        return Instant(nanoseconds: overflow ? .max : sum)
    }

    /// The span from `right` to `left`, zero if `right` is the later one.
    public static func - (left: Instant, right: Instant) -> TimeSpan {
        TimeSpan(nanoseconds: left.nanoseconds > right.nanoseconds ? left.nanoseconds - right.nanoseconds : 0)
    }
}

/// A length of time in nanoseconds, never negative.
public struct TimeSpan: Sendable, Hashable, Comparable, BitwiseCopyable {
    /// The length in nanoseconds.
    public var nanoseconds: UInt64

    /// Makes a span from nanoseconds.
    public init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// A span of whole seconds.
    public static func seconds(_ count: UInt64) -> TimeSpan {
        TimeSpan(nanoseconds: count * 1_000_000_000)
    }

    /// A span of whole milliseconds.
    public static func milliseconds(_ count: UInt64) -> TimeSpan {
        TimeSpan(nanoseconds: count * 1_000_000)
    }

    public static func < (left: TimeSpan, right: TimeSpan) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    public static func + (left: TimeSpan, right: TimeSpan) -> TimeSpan {
        TimeSpan(nanoseconds: left.nanoseconds + right.nanoseconds)
    }
}
