/// When to look after what other programs took away: soon after the first sign, and later and later while they go on.
struct RestoreClock {
    /// Several changes at once, such as a reload, are looked at once.
    private static let firstDelay: UInt64 = 250_000_000
    private static let lastDelay: UInt64 = 32_000_000_000
    /// So long without a restoration, and the next one is the first again.
    private static let quiet: UInt64 = 60_000_000_000

    private let alarm: AlarmClock
    private var delay = Self.firstDelay
    private var due: UInt64?
    private var last: UInt64?

    init() throws(SystemCallError) { alarm = try AlarmClock() }

    /// Readable when it is time.
    var descriptor: Int32 { alarm.descriptor.number }

    /// Something may be missing; `isUrgent` where packets leak until it is back.
    mutating func noticed(isUrgent: Bool = false) {
        let now = AlarmClock.now
        if let last, now - last > Self.quiet { (delay, self.last) = (Self.firstDelay, nil) }
        let time = now + (isUrgent && last == nil ? 0 : delay)
        guard due.map({ time < $0 }) ?? true else { return }
        due = time
        // Without the alarm the next change of the system is the time.
        try? alarm.set(time)
    }

    /// Whether it is time to look; once for each time that it was noticed.
    mutating func takeDue() -> Bool {
        alarm.acknowledge()
        guard let due, AlarmClock.now >= due else { return false }
        self.due = nil
        return true
    }

    /// Something was put back, or could not be.
    ///
    /// - Returns: Whether it is the first time since it was quiet.
    mutating func acted() -> Bool {
        defer { last = AlarmClock.now }
        guard last != nil else { return true }
        delay = min(2 * delay, Self.lastDelay)
        return false
    }
}
