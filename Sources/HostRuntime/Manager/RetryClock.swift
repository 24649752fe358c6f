/// When something that failed is tried again: after 1, 2, 4 … 32 s, until it succeeds.
struct RetryClock {
    private static let firstDelay: UInt64 = 1_000_000_000
    private static let lastDelay: UInt64 = 32_000_000_000

    private let alarm: AlarmClock
    private var delay = Self.firstDelay
    private var due: UInt64?

    init() throws(SystemCallError) { alarm = try AlarmClock() }

    /// Readable when it is time.
    var descriptor: Int32 { alarm.descriptor.number }

    /// Whether nothing has failed, or it is time to try again.
    func isDue() -> Bool {
        alarm.acknowledge()
        return due.map { AlarmClock.now >= $0 } ?? true
    }

    mutating func succeeded() {
        delay = Self.firstDelay
        due = nil
    }

    mutating func failed() {
        let time = AlarmClock.now + delay
        due = time
        delay = min(2 * delay, Self.lastDelay)
        // Without the alarm the next change of the system is the time.
        try? alarm.set(time)
    }
}
