import Testing

@testable import WireGuard

@Suite("Tables")
struct TableTests {
    @Test("The index table agrees with a dictionary", arguments: 0..<16)
    func indices(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var table = IndexTable()
        var oracle: [UInt32: UInt32] = [:]
        for step in 0..<3000 {
            // Few values, so that runs collide and wrap around.
            let index = UInt32(random.below(400)) &* (seed.isMultiple(of: 2) ? 1 : 64)
            if random.chance(550) {
                let inserted = table.insert(index, slot: UInt32(step))
                #expect(inserted == (oracle[index] == nil))
                if inserted { oracle[index] = UInt32(step) }
            } else {
                table.remove(index)
                oracle[index] = nil
            }
            #expect(table.count == oracle.count)
            let probe = UInt32(random.below(400))
            #expect(table.slot(of: probe) == oracle[probe] ?? IndexTable.none)
        }
        for (index, slot) in oracle { #expect(table.slot(of: index) == slot) }
    }

    @Test("The deadline heap agrees with a sorted list", arguments: 0..<16)
    func deadlines(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var heap = DeadlineHeap()
        var oracle: [UInt32: Instant] = [:]
        for _ in 0..<2000 {
            let slot = UInt32(random.below(60))
            if random.chance(250) {
                heap.set(slot, to: .distantFuture)
                oracle[slot] = nil
            } else {
                let deadline = Instant(nanoseconds: random.next() % 1000)
                heap.set(slot, to: deadline)
                oracle[slot] = deadline
            }
            #expect(heap.next == oracle.values.min())
            if let first = heap.first { #expect(oracle[first] == heap.next) }
        }
    }
}
