import WireGuard

/// Rule 9: at most one change a second, and at most as many a minute as the profile says.
struct ApplyRate: Sendable {
    private let perMinute: Int
    /// The last changes, the oldest first.
    private var changes: [Instant] = []

    /// Begins without any change; `perMinute` is at least 1.
    init(perMinute: Int) { self.perMinute = perMinute }

    /// When the next change may be made; nil if none was made yet.
    var next: Instant? {
        guard let last = changes.last else { return nil }
        guard changes.count >= perMinute else { return last + .seconds(1) }
        return max(last + .seconds(1), changes[changes.count - perMinute] + .seconds(60))
    }

    /// Whether a change may be made now.
    func allows(_ now: Instant) -> Bool { next.map { now >= $0 } ?? true }

    /// Whether the next change waits because of the minute, not the second.
    func isHolding(at now: Instant) -> Bool {
        changes.count >= perMinute && now - changes[changes.count - perMinute] < .seconds(60)
    }

    /// Counts a change.
    mutating func note(_ now: Instant) {
        changes.append(now)
        changes.removeFirst(max(0, changes.count - perMinute))
    }
}
