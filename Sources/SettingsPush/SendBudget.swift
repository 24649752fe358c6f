public import WireGuard

/// What may be sent to one peer, or taken from it: 8,000 bytes a second, and 64 KiB at once after a rest.
public struct SendBudget: Sendable {
    private static let capacity: UInt64 = 64 << 10
    private static let bytesPerSecond: UInt64 = 8000
    /// What the smallest message counts for, so that small ones are bounded in number too.
    private static let leastCost: UInt64 = 128

    private var available = Self.capacity
    private var updated: Instant

    /// Begins with a whole budget.
    public init(at now: Instant) { updated = now }

    /// Takes the bytes of a message from the budget; false if they are not there.
    public mutating func take(_ count: Int, at now: Instant) -> Bool {
        refill(now)
        let cost = max(UInt64(count), Self.leastCost)
        guard cost <= available else { return false }
        available -= cost
        return true
    }

    /// Whether nothing was taken for so long that a fresh budget would be the same.
    mutating func isFull(at now: Instant) -> Bool {
        refill(now)
        return available == Self.capacity
    }

    private mutating func refill(_ now: Instant) {
        let milliseconds = (now - updated).nanoseconds / 1_000_000
        guard milliseconds > 0 else { return }
        let gained = min(milliseconds, Self.capacity) * Self.bytesPerSecond / 1000
        available = min(Self.capacity, available + gained)
        updated = updated + .milliseconds(milliseconds)
    }
}
