import Testing
import WireGuard

@testable import WireGuardProvider

@Suite("The queue of handshake messages")
struct HandshakeQueueTests {
    private let now = Instant(nanoseconds: 100_000_000_000)
    private let message = [UInt8](repeating: 7, count: 148)

    /// Gives the queue a message of a source.
    private func push(_ queue: inout HandshakeQueue, _ number: Int) -> Bool {
        let source = Endpoint(.v4(UInt32(number)), port: 7, scope: 0)
        return queue.push(message.rawSpan, from: source, to: nil, now: now)
    }

    @Test("Messages come out as they went in, oldest first")
    func order() {
        var queue = HandshakeQueue()
        for round in 0..<40 {
            for number in 0..<32 {
                let bytes = [UInt8](repeating: UInt8((number + round) & 255), count: 1 + (number * 7 + round) % 148)
                let source = Endpoint(.v4(UInt32(number)), port: 7, scope: 0)
                let taken = queue.push(bytes.rawSpan, from: source, to: nil, now: now)
                #expect(taken)
            }
            for number in 0..<32 {
                let message = queue.pop()
                #expect(message?.count == 1 + (number * 7 + round) % 148 && message?.isNewcomer == false)
                #expect(message?.from.address == .v4(UInt32(number)))
                let last = message?.withBytes { $0.littleEndianWord(($0.byteCount - 1) / 8) & 255 }
                #expect(last == UInt64((number + round) & 255))
            }
            let rest = queue.pop()
            #expect(rest?.count == nil)
        }
    }

    @Test("A full queue refuses, and what it took comes out once")
    func full() {
        var queue = HandshakeQueue()
        var taken = 0
        for _ in 0..<1000 where push(&queue, 1) { taken += 1 }
        let depth = queue.depth
        // One source: its first message under pressure is a newcomer's.
        #expect(taken == HandshakeQueue.capacity + 1 && depth == taken)
        var (popped, newcomers) = (0, 0)
        while let message = queue.pop() {
            popped += 1
            if message.isNewcomer { newcomers += 1 }
        }
        #expect(popped == taken && newcomers == 1)
    }

    @Test("While 65,536 sources flood, a quiet one is served next, and a known one within a lane")
    func newcomer() {
        var queue = HandshakeQueue()
        for number in 0..<64 { _ = push(&queue, number) }
        for number in 0..<65_536 {
            _ = push(&queue, number)
            _ = queue.pop()
        }
        // From now on three come for each that is served: the lane of known sources is full.
        for number in 0..<65_536 {
            _ = push(&queue, number)
            if number % 3 == 0 { _ = queue.pop() }
        }
        var served = 0
        for honest in 0..<200 {
            _ = push(&queue, 1_000_000 + honest)
            let first = queue.pop()
            let second = queue.pop()
            for message in [first, second] where message?.from.address == .v4(UInt32(1_000_000 + honest)) {
                if message?.isNewcomer == true { served += 1 }
            }
            for number in 0..<3 { _ = push(&queue, number) }
        }
        // A filter may take one for known; more than a few would mean that it is too small.
        #expect(served >= 190)
        let depth = queue.depth
        #expect(depth <= 2 * HandshakeQueue.capacity)
    }

    @Test("A flood of sources that are always new leaves half of the turns to known ones")
    func alwaysNew() {
        var queue = HandshakeQueue()
        for _ in 0..<64 { _ = push(&queue, 1) }
        while queue.pop() != nil {}
        for number in 0..<2000 { _ = push(&queue, 10 + number) }
        let taken = push(&queue, 1)
        let first = queue.pop()
        let second = queue.pop()
        #expect(taken)
        #expect(first?.from.address == .v4(1) || second?.from.address == .v4(1))
    }

    @Test("A message longer than an initiation is refused")
    func tooLong() {
        var queue = HandshakeQueue()
        let bytes = [UInt8](repeating: 0, count: 149)
        let taken = queue.push(bytes.rawSpan, from: Endpoint(.v4(1), port: 7, scope: 0), to: nil, now: now)
        #expect(!taken)
    }
}
