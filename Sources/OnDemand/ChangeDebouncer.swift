/// When to look at a network that changes: once it was quiet for a while, and at the latest some time after the first sign.
///
/// A link that goes and comes back in between has not changed anything.
public struct ChangeDebouncer: Sendable {
    /// So long nothing must have changed.
    public static let quiet = Duration.seconds(1)
    /// A network that never rests is looked at so long after the first change.
    public static let limit = Duration.seconds(5)

    private var first: ContinuousClock.Instant?
    /// When to look; nil while nothing has changed.
    public private(set) var deadline: ContinuousClock.Instant?

    /// Makes a debouncer of a network that rests.
    public init() {}

    /// Something changed.
    public mutating func note(at now: ContinuousClock.Instant) {
        let first = first ?? now
        self.first = first
        deadline = min(now + Self.quiet, first + Self.limit)
    }

    /// Whether it is time to look; once for each ``deadline``.
    public mutating func takeDue(at now: ContinuousClock.Instant) -> Bool {
        guard let deadline, now >= deadline else { return false }
        (self.first, self.deadline) = (nil, nil)
        return true
    }
}
