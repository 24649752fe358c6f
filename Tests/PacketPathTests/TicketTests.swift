import Synchronization
import Testing

@testable import PacketPath

@Suite("Tickets")
struct TicketTests {
    @Test("slots are finished in the order of their tickets, whatever order the work ends in")
    func order() {
        var ring = TicketRing(capacity: 4)
        for slot in 0..<4 {
            #expect(ring.nextSlot == slot)
            ring.take()
        }
        var isFull = ring.isAtMost(3)
        #expect(!isFull)
        var next = ring.complete(2)
        #expect(next == nil)
        next = ring.complete(1)
        #expect(next == nil)
        next = ring.complete(0)
        #expect(next == 0)
        // Another thread's work ends meanwhile: the one that finishes takes it along.
        next = ring.complete(3)
        #expect(next == nil)
        for expected in [1, 2, 3, nil] {
            let freed = ring.finished()
            #expect(freed.next == expected)
            #expect(freed.wakes == (expected == 1))
        }
        isFull = ring.isAtMost(0)
        #expect(isFull && ring.outstanding == 0 && ring.nextSlot == 0)
    }

    @Test("a thread that waits for less is woken when it is reached, once")
    func wakes() {
        var ring = TicketRing(capacity: 2)
        ring.take()
        ring.take()
        let reached = ring.isAtMost(0)
        #expect(!reached)
        _ = ring.complete(0)
        var freed = ring.finished()
        #expect(!freed.wakes && freed.next == nil)
        _ = ring.complete(1)
        freed = ring.finished()
        #expect(freed.wakes)
        ring.take()
        _ = ring.complete(0)
        freed = ring.finished()
        #expect(!freed.wakes)
    }

    @Test("random threads against the rule: nothing is finished early, twice or out of order")
    func random() {
        var random = Seeded(77)
        var ring = TicketRing(capacity: 5)
        var (taken, finished) = (0, 0)
        var working: [Int] = []
        var finishing: Int?
        for _ in 0..<100_000 {
            switch Int.random(in: 0..<3, using: &random) {
            case 0 where taken - finished < 5:
                working.append(ring.nextSlot)
                #expect(ring.nextSlot == taken % 5)
                ring.take()
                taken += 1
            case 1 where !working.isEmpty:
                let slot = working.remove(at: Int.random(in: 0..<working.count, using: &random))
                let next = ring.complete(slot)
                if let next {
                    #expect(finishing == nil && next == finished % 5)
                    finishing = next
                }
            case 2:
                guard let slot = finishing else { continue }
                #expect(!working.contains(slot))
                finished += 1
                finishing = ring.finished().next
                if let finishing { #expect(finishing == finished % 5) }
            default: continue
            }
            #expect(ring.outstanding == taken - finished)
            // Nothing that is ready lies about: the head is worked on, or somebody finishes.
            #expect(finishing != nil || taken == finished || working.contains(finished % 5))
        }
    }

    /// A source of numbers behind a read token, and a log that only the ordered part writes.
    private final class Mill: Sendable {
        let office: TicketOffice
        private let source = Mutex(0)
        private let cells: Cells
        private let log = Log()
        private let count: Int

        init(count: Int) throws {
            office = try TicketOffice(capacity: 8)
            cells = Cells()
            self.count = count
        }

        var numbers: [Int] { log.numbers }

        func run() {
            while let slot = read() {
                // Work of uneven length, on the thread's own slot.
                let number = cells.load(slot)
                var sum = number
                for step in 0..<(number % 7) * 100 { sum = sum &* 31 &+ step }
                cells.store(sum == Int.min ? 0 : number, at: slot)
                office.complete(slot) { log.append(cells.load($0)) }
            }
        }

        private func read() -> Int? {
            source.withLock { number in
                guard number < count else { return nil }
                office.wait(outstandingAtMost: office.capacity - 1)
                let slot = office.nextSlot
                cells.store(number, at: slot)
                office.take()
                number += 1
                if number.isMultiple(of: 1000) { office.wait(outstandingAtMost: 1) }
                return slot
            }
        }
    }

    /// SAFETY: only the thread that finishes appends; the thread sanitizer sees it if two do.
    private final class Log: @unchecked Sendable {
        private(set) var numbers: [Int] = []
        func append(_ number: Int) { numbers.append(number) }
    }

    @Test("four threads keep the order", .timeLimit(.minutes(1)))
    func threads() throws {
        let mill = try Mill(count: 50_000)
        let threads = try (0..<4).map { number in try DataThread("mill-\(number)") { mill.run() } }
        for thread in threads { thread.join() }
        #expect(mill.numbers == Array(0..<50_000))
    }
}
