/// Lets a number of lines through per second and counts the others.
///
/// The first line after a second in which lines were dropped brings their number along.
struct LogLimiter {
    private static let window: UInt64 = 1_000_000_000

    private let limit: Int
    private var windowEnd: UInt64 = 0
    private var count = 0
    private var dropped = 0

    /// Allows `limit` lines per second.
    init(limit: Int) { self.limit = limit }

    /// Decides about one line at `now`, in nanoseconds.
    ///
    /// - Returns: Whether the line goes through, and how many were dropped before it and not told yet.
    mutating func admit(at now: UInt64) -> (isAdmitted: Bool, droppedBefore: Int) {
        if now >= windowEnd {
            windowEnd = now + Self.window
            count = 0
        }
        guard count < limit else {
            dropped += 1
            return (false, 0)
        }
        count += 1
        return (true, takeDropped())
    }

    /// How many lines were dropped and not told yet; they count as told then.
    mutating func takeDropped() -> Int {
        defer { dropped = 0 }
        return dropped
    }
}
