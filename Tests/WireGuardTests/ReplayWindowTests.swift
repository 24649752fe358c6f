import Testing

@testable import WireGuard

@Suite("Replay window")
struct ReplayWindowTests {
    @Test("Agrees with a set of seen counters on random input", arguments: 0..<64)
    func oracle(seed: Int) {
        var random = SplitMix(seed: UInt64(seed))
        var window = ReplayWindow()
        var seen: Set<UInt64> = []
        var highest: UInt64 = 0
        var base: UInt64 = seed.isMultiple(of: 4) ? UInt64.max - 60_000 : 0
        for _ in 0..<3000 {
            switch random.below(20) {
            case 0: base &+= random.next() % 20_000
            case 1: base = base > 9000 ? base - random.next() % 9000 : base
            default: break
            }
            let counter = base &+ random.next() % 200
            let isNew =
                counter < Limits.rejectAfterMessages && !seen.contains(counter)
                && (seen.isEmpty || counter + ReplayWindow.size >= highest)
            let accepted = window.accept(counter)
            #expect(accepted == isNew, "\(counter) with highest \(highest)")
            if isNew {
                seen.insert(counter)
                highest = max(highest, counter)
            }
        }
    }

    @Test("Counters at the edges of the window")
    func edges() {
        // The kernel's own cases, which count from the first counter that is too old.
        let size = ReplayWindow.size + 1
        var window = ReplayWindow()
        let steps: [(UInt64, Bool)] = [
            (0, true), (1, true), (1, false), (9, true), (8, true), (7, true), (7, false), (size, true),
            (size - 1, true), (size - 1, false), (size - 2, true), (2, true), (2, false), (size + 16, true), (3, false),
            (size + 16, false), (size * 4, true), (size * 4 - (size - 1), true), (10, false), (size * 4 - size, false),
            (size * 4 - (size + 1), false), (size * 4 - (size - 2), true), (size * 4 + 1 - size, false), (0, false),
            (Limits.rejectAfterMessages, false), (Limits.rejectAfterMessages - 1, true),
            (Limits.rejectAfterMessages, false), (Limits.rejectAfterMessages - 1, false),
            (Limits.rejectAfterMessages - 2, true), (Limits.rejectAfterMessages + 1, false), (.max, false),
            (Limits.rejectAfterMessages - 3, true), (0, false),
        ]
        for (index, (counter, isNew)) in steps.enumerated() {
            let accepted = window.accept(counter)
            #expect(accepted == isNew, "step \(index), counter \(counter)")
        }
    }

    @Test("A full window forwards, backwards, and with a hole at its end")
    func fullWindow() {
        let size = ReplayWindow.size
        /// Which of the counters are accepted, in order, by a fresh window.
        func accepted(_ counters: some Sequence<UInt64>) -> [Bool] {
            var window = ReplayWindow()
            return counters.map { window.accept($0) }
        }
        let forward = accepted(Array(1...size) + [0, 0])
        #expect(forward.dropLast().allSatisfy(\.self) && forward.last == false)
        let backward = accepted(Array((2...size + 1).reversed()) + [1 + size])
        #expect(backward.dropLast().allSatisfy(\.self) && backward.last == false)
        let holes = accepted(Array((1...size).reversed()) + [size + 1, 0])
        #expect(holes.dropLast().allSatisfy(\.self) && holes.last == false)
    }
}
