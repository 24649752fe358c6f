/// Lets so many events a second through, and a few more at once after quiet.
struct TokenBucket: BitwiseCopyable {
    private let cost: UInt64
    private let capacity: UInt64
    /// What is left, in nanoseconds of refilling.
    private var level: UInt64
    private(set) var updated: Instant

    /// A full bucket.
    init(perSecond rate: UInt64, burst: UInt64, now: Instant) {
        cost = 1_000_000_000 / rate
        capacity = cost * burst
        level = capacity
        updated = now
    }

    /// Takes one token; false if there is none.
    mutating func take(now: Instant) -> Bool {
        level = min(capacity, level + min(capacity, (now - updated).nanoseconds))
        updated = now
        guard level >= cost else { return false }
        level -= cost
        return true
    }
}
