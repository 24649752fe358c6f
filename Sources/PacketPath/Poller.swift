internal import CTun

/// A wake-up that one thread sends to another's poll set (eventfd(2)).
public final class EventDescriptor: Sendable {
    public let descriptor: Int32

    public init() throws(PathError) {
        descriptor = ctun_event_create()
        guard descriptor >= 0 else {
            throw PathError("cannot make an eventfd", code: descriptor, advice: "raise the limit of open files")
        }
    }

    deinit { ctun_close(descriptor) }

    /// Wakes the waiting thread; signals add up to one wake-up until `clear()`.
    public func signal() { _ = ctun_event_signal(descriptor) }

    /// Takes the signals that arrived, so that the next wait sleeps.
    public func clear() { _ = ctun_event_clear(descriptor) }
}

/// A timer of CLOCK_BOOTTIME (timerfd(2)), which also runs while the machine sleeps, as the timeout of poll(2) does not.
private final class BootTimer {
    let descriptor: Int32

    init?() {
        descriptor = ctun_timer_create()
        guard descriptor >= 0 else { return nil }
    }

    deinit { ctun_close(descriptor) }

    func set(nanoseconds: Int64) -> Bool { ctun_timer_set(descriptor, nanoseconds) == 0 }
}

/// A set of up to seven descriptors to wait on; owned by one thread.
public struct Poller: ~Copyable {
    /// What a wait found at one descriptor.
    public struct Readiness: OptionSet, Sendable {
        public let rawValue: UInt16
        public init(rawValue: UInt16) { self.rawValue = rawValue }
        public static let readable = Readiness(rawValue: 1)
        public static let writable = Readiness(rawValue: 2)
        /// Error or hang-up; a deleted TUN shows so.
        public static let failed = Readiness(rawValue: 4)
    }

    private var entries = InlineArray<8, ctun_poll_entry>(repeating: ctun_poll_entry())
    /// The number of descriptors added.
    public private(set) var count: Int = 0
    /// Made by the first wait that ends by itself.
    private var timer: BootTimer?

    public init() {}

    /// Adds a descriptor and returns its place in the set; traps beyond seven.
    @discardableResult
    public mutating func add(_ descriptor: Int32, for interest: Readiness = .readable) -> Int {
        precondition(count < 7, "a poll set holds seven descriptors and a timer")
        entries[count] = ctun_poll_entry(descriptor: descriptor, interest: interest.rawValue, ready: 0)
        count += 1
        return count - 1
    }

    /// Changes what is waited for; an empty interest still reports failures.
    public mutating func setInterest(_ interest: Readiness, at place: Int) {
        entries[place].interest = interest.rawValue
    }

    /// Puts another descriptor in a place; -1 leaves the place unused.
    public mutating func replace(_ descriptor: Int32, at place: Int) { entries[place].descriptor = descriptor }

    /// Waits until a descriptor is ready or the time (CLOCK_BOOTTIME) is over; nil waits without end.
    ///
    /// Returns false on timeout and signals.
    public mutating func wait(nanoseconds: Int64?) -> Bool {
        guard let nanoseconds else { return System.poll(&entries, count, timeout: -1) > 0 }
        if timer == nil { timer = BootTimer() }
        guard let timer, timer.set(nanoseconds: nanoseconds) else {
            return System.poll(&entries, count, timeout: nanoseconds) > 0
        }
        entries[count] = ctun_poll_entry(descriptor: timer.descriptor, interest: Readiness.readable.rawValue, ready: 0)
        let ready = System.poll(&entries, count + 1, timeout: -1)
        return ready > (entries[count].ready == 0 ? 0 : 1)
    }

    /// What the last wait found at a place.
    public func ready(_ place: Int) -> Readiness { Readiness(rawValue: entries[place].ready) }
}
