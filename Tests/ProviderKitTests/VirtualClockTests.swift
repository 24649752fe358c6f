import ProviderTestKit
import Synchronization
import Testing

@Suite("Virtual clock")
struct VirtualClockTests {
    @Test("A sleeper wakes at its deadline and not before")
    func sleeping() async throws {
        let clock = VirtualClock()
        let woken = Recorder<Duration>()
        let sleeper = Task {
            try await clock.sleep(for: .seconds(10))
            woken.add(clock.now.offset)
        }
        await clock.waitForSleepers(1)
        await clock.advance(by: .milliseconds(9_999))
        #expect(woken.all.isEmpty)
        #expect(clock.sleeperCount == 1)
        await clock.advance(by: .milliseconds(1))
        try await sleeper.value
        #expect(woken.all == [.seconds(10)])
    }

    @Test("Actions run in the order of their deadlines, those of one deadline in the order of the calls")
    func order() async {
        let clock = VirtualClock()
        let seen = Recorder<String>()
        for (name, seconds) in [("c", 3), ("a", 1), ("b1", 2), ("b2", 2)] {
            clock.schedule(at: clock.now.advanced(by: .seconds(seconds))) { seen.add("\(name)@\(clock.now.offset)") }
        }
        await clock.advance(by: .seconds(2))
        #expect(seen.all == ["a@1.0 seconds", "b1@2.0 seconds", "b2@2.0 seconds"])
        await clock.advance(by: .seconds(5))
        #expect(seen.all.last == "c@3.0 seconds")
        #expect(clock.now.offset == .seconds(7))
    }

    @Test("A timer that starts itself again fires once per period")
    func periodic() async {
        let clock = VirtualClock()
        let ticks = Recorder<Duration>()
        let timer = Task {
            while !Task.isCancelled {
                try await clock.sleep(for: .seconds(25))
                ticks.add(clock.now.offset)
            }
        }
        for _ in 0..<4 {
            await clock.waitForSleepers(1)
            await clock.advance(by: .seconds(25))
        }
        await clock.waitForSleepers(1)
        timer.cancel()
        _ = await timer.result
        #expect(ticks.all == [.seconds(25), .seconds(50), .seconds(75), .seconds(100)])
        #expect(clock.sleeperCount == 0)
    }

    @Test("A cancelled sleeper throws and leaves the clock")
    func cancellation() async {
        let clock = VirtualClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
        await clock.waitForSleepers(1)
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test("Cancelling at any moment ends the sleep")
    func cancellationRace() async {
        let clock = VirtualClock()
        for _ in 0..<500 {
            let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
            sleeper.cancel()
            await #expect(throws: CancellationError.self) { try await sleeper.value }
        }
        #expect(clock.sleeperCount == 0)
    }

    @Test("A deadline that has passed does not wait, and code written for any clock takes this one")
    func anyClock() async throws {
        let clock = VirtualClock()
        await clock.advance(by: .seconds(5))
        try await clock.sleep(until: VirtualClock.Instant(offset: .seconds(5)))
        let erased: any Clock<Duration> = clock
        let sleeper = Task { try await erased.sleep(for: .seconds(60)) }
        await clock.waitForSleepers(1)
        await clock.advance(by: .seconds(60))
        try await sleeper.value
    }
}

/// Collects values from any thread.
final class Recorder<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    var all: [Value] { values.withLock { $0 } }
    func add(_ value: Value) { values.withLock { $0.append(value) } }
}
