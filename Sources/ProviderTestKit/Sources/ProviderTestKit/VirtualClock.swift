internal import Synchronization

/// A clock that stands still until a test moves it.
///
/// A provider that takes `any Clock<Duration>` and sleeps by it alone runs through hours of timers in milliseconds:
/// ```swift
/// let clock = VirtualClock()
/// let provider = MyProvider(context: context, clock: clock)
/// try await provider.startTunnel(options: nil)
/// await clock.waitForSleepers(1)          // its keepalive timer runs
/// await clock.advance(by: .seconds(25))   // and fires
/// ```
public final class VirtualClock: Clock, Sendable {
    /// A point in virtual time.
    public struct Instant: InstantProtocol {
        /// The time since the clock was made.
        public let offset: Duration

        /// Names the point in time that is `offset` after the start.
        public init(offset: Duration) { self.offset = offset }

        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        public static func < (earlier: Instant, later: Instant) -> Bool { earlier.offset < later.offset }
    }

    private struct Entry {
        let deadline: Instant
        let number: UInt64
        let isSleeper: Bool
        let wake: @Sendable (_ cancelled: Bool) -> Void
    }

    private struct State {
        var now = Instant(offset: .zero)
        var nextNumber: UInt64 = 0
        var entries: [Entry] = []
    }

    private let state = Mutex(State())

    /// Makes a clock that stands at zero.
    public init() {}

    public var now: Instant { state.withLock { $0.now } }
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// How many tasks sleep on this clock.
    public var sleeperCount: Int { state.withLock { $0.entries.count(where: \.isSleeper) } }

    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        let cancelled = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                add(Entry(deadline: deadline, number: number, isSleeper: true) { continuation.resume(returning: $0) })
                // The handler below may have run before the entry was there.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
        if cancelled { throw CancellationError() }
    }

    /// Runs `action` when the clock reaches `deadline`, or at once when that has passed.
    public func schedule(at deadline: Instant, _ action: @escaping @Sendable () -> Void) {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        add(Entry(deadline: deadline, number: number, isSleeper: false) { _ in action() })
    }

    /// Moves the clock on and wakes whoever's time has come, in the order of their deadlines.
    ///
    /// Time stops at each deadline, and the woken task gets time to run and to sleep again before time goes on. How far a
    /// task that computes for long gets is up to the scheduler: ``waitForSleepers(_:)`` is exact.
    public func advance(by duration: Duration) async {
        precondition(duration >= .zero, "time does not run backwards")
        let target = now.advanced(by: duration)
        while let entry = takeNext(until: target) {
            entry.wake(false)
            await settle()
        }
        state.withLock { $0.now = max($0.now, target) }
        await settle()
    }

    /// Waits until at least `count` tasks sleep on this clock.
    public func waitForSleepers(_ count: Int) async {
        while sleeperCount < count, !Task.isCancelled { await Task.yield() }
    }

    private func settle() async {
        for _ in 0..<20 { await Task.yield() }
    }

    private func add(_ entry: Entry) {
        let isDue = state.withLock { state in
            guard entry.deadline > state.now else { return true }
            let index = state.entries.firstIndex { $0.deadline > entry.deadline } ?? state.entries.endIndex
            state.entries.insert(entry, at: index)
            return false
        }
        if isDue { entry.wake(false) }
    }

    private func takeNext(until target: Instant) -> Entry? {
        state.withLock { state in
            guard let first = state.entries.first, first.deadline <= target else { return nil }
            state.now = max(state.now, first.deadline)
            return state.entries.removeFirst()
        }
    }

    private func cancel(_ number: UInt64) {
        let entry = state.withLock { state in
            state.entries.firstIndex { $0.number == number }.map { state.entries.remove(at: $0) }
        }
        entry?.wake(true)
    }
}
