import Glibc
import Synchronization
import Testing

@testable import PacketPath

@Suite("Rings, slabs, events, options")
struct PiecesTests {
    @Test("a ring gives back what went in, in order, and says full and empty")
    func ring() {
        let ends = Ring.make(capacity: 5)
        var producer: RingProducer?
        var consumer: RingConsumer?
        ends.split({ producer = consume $0 }, { consumer = consume $0 })
        guard var producer = producer.take(), var consumer = consumer.take() else {
            Issue.record("no ends")
            return
        }
        var random = Seeded(1)
        var store = [Int](repeating: 0, count: 8)
        var model: [Int] = []
        for value in 0..<10_000 {
            if random.chance(50) {
                let place = producer.claim()
                #expect((place == nil) == (model.count == 8))
                guard let place else { continue }
                store[place] = value
                producer.publish()
                model.append(value)
            } else {
                let place = consumer.front()
                #expect(place.map { store[$0] } == model.first)
                guard place != nil else { continue }
                consumer.release()
                model.removeFirst()
            }
            #expect(producer.backlog == model.count)
        }
    }

    @Test("two threads pass a million elements without loss or change of order")
    func twoThreads() async {
        let total = 1_000_000
        let cells = Cells()
        let ends = Ring.make(capacity: 64)
        let boxes = Boxes()
        ends.split({ boxes.put($0) }, { boxes.put($0) })
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                guard var producer = boxes.takeProducer() else { return false }
                for value in 0..<total {
                    while true {
                        guard let place = producer.claim() else {
                            sched_yield()
                            continue
                        }
                        cells.store(value, at: place)
                        producer.publish()
                        break
                    }
                }
                return true
            }
            group.addTask {
                guard var consumer = boxes.takeConsumer() else { return false }
                var expected = 0
                while expected < total {
                    guard let place = consumer.front() else {
                        sched_yield()
                        continue
                    }
                    guard cells.load(place) == expected else { return false }
                    consumer.release()
                    expected += 1
                }
                return true
            }
            for await done in group { #expect(done) }
        }
    }

    @Test("slots do not overlap and hold a whole super-packet with room before and behind")
    func slab() throws {
        var slab = try Slab(count: 3)
        for slot in 0..<3 {
            var bytes = slab.mutableBytes(of: slot, from: 0, count: Slab.dataSize + 1024)
            for offset in stride(from: 0, to: bytes.byteCount, by: 509) {
                bytes.storeBytes(of: UInt8(slot + 1), toByteOffset: offset, as: UInt8.self)
            }
        }
        for slot in 0..<3 {
            let bytes = Array(copying: slab.bytes(of: slot, from: 0, count: Slab.dataSize + 1024))
            #expect(stride(from: 0, to: bytes.count, by: 509).allSatisfy { bytes[$0] == UInt8(slot + 1) })
        }
        #expect(Slab.slotSize % 4096 == 0 && Slab.slotSize >= Slab.dataOffset + Slab.dataSize + 1024)
        #expect(throws: PathError.self) { _ = try Slab(count: 0) }
        #expect(throws: PathError.self) { _ = try Slab(count: 5000) }
    }

    @Test("bytes outside a slot cannot be reached")
    func slabBounds() async {
        await #expect(processExitsWith: .failure) {
            let slab = try Slab(count: 2)
            _ = slab.bytes(of: 0, from: 0, count: Slab.slotSize)
        }
        await #expect(processExitsWith: .failure) {
            let slab = try Slab(count: 2)
            _ = slab.bytes(of: 2, from: 0, count: 1)
        }
        await #expect(processExitsWith: .failure) {
            let slab = try Slab(count: 2)
            _ = slab.bytes(of: 0, from: -1, count: 1)
        }
    }

    @Test("an event wakes a poll, once until cleared")
    func events() throws {
        let event = try EventDescriptor()
        var poller = Poller()
        let place = poller.add(event.descriptor)
        var woken = poller.wait(nanoseconds: 0)
        #expect(!woken)
        event.signal()
        event.signal()
        woken = poller.wait(nanoseconds: nil)
        #expect(woken)
        #expect(poller.ready(place) == .readable)
        event.clear()
        let start = ContinuousClock.now
        for _ in 0..<3 {
            woken = poller.wait(nanoseconds: 5_000_000)
            #expect(!woken)
        }
        #expect(ContinuousClock.now - start >= .milliseconds(15))
        // A signal is seen beside a timer that has run out.
        event.signal()
        woken = poller.wait(nanoseconds: 0)
        #expect(woken)
        #expect(poller.ready(place) == .readable)
    }

    @Test("environment variables switch features off")
    func environment() {
        #expect(PathOptions { _ in nil } == PathOptions())
        #expect(PathOptions { _ in "0" } == PathOptions())
        #expect(PathOptions { _ in "" } == PathOptions())
        for (name, path) in [
            ("PROVIDERHOST_NO_TUN_TSO", \PathOptions.tunTSO), ("PROVIDERHOST_NO_TUN_USO", \.tunUSO),
            ("PROVIDERHOST_NO_UDP_GSO", \.udpGSO), ("PROVIDERHOST_NO_UDP_GRO", \.udpGRO),
            ("PROVIDERHOST_NO_WIDE_AEAD", \.wideAEAD),
        ] {
            var expected = PathOptions()
            expected[keyPath: path] = false
            #expect(PathOptions { $0 == name ? "1" : nil } == expected)
        }
    }

    @Test("the checksum equals the one of RFC 1071 at every length and alignment")
    func checksum() throws {
        var random = Seeded(8)
        let slab = try Slab(count: 1)
        let view = slab.view(0)
        for length in Array(0...200) + [1420, 1500, 9000, 65_535] {
            let bytes = random.bytes(length)
            let offset = Int.random(in: 0...33, using: &random)
            unsafe view.copy(from: bytes.span.bytes, to: offset)
            view.storeNative16(checksumField(view.checksum(offset, length)), 70_000 - 500)
            #expect(view.load16(70_000 - 500) == ~fold(naiveSum(bytes)))
        }
        for offset in 0..<64 { view.store8(0xff, offset) }
        #expect(checksumField(view.checksum(0, 64)) == 0)
    }
}

/// Sixty-four plain numbers that two threads touch, guarded by nothing but the ring.
///
/// SAFETY: an index belongs to the thread that the ring gave it to; the thread sanitizer sees it if that is not so.
@safe
final class Cells: @unchecked Sendable {
    private let cells: UnsafeMutablePointer<Int>
    init() {
        unsafe cells = .allocate(capacity: 64)
        unsafe cells.initialize(repeating: -1, count: 64)
    }
    deinit { unsafe cells.deallocate() }
    func store(_ value: Int, at place: Int) { unsafe cells[place] = value }
    func load(_ place: Int) -> Int { unsafe cells[place] }
}

/// The two ends, each for the thread that takes it.
final class Boxes: Sendable {
    private let producer = Mutex<RingProducer?>(nil)
    private let consumer = Mutex<RingConsumer?>(nil)
    func put(_ end: consuming RingProducer) {
        var end: RingProducer? = consume end
        producer.withLock { $0 = end.take() }
    }
    func put(_ end: consuming RingConsumer) {
        var end: RingConsumer? = consume end
        consumer.withLock { $0 = end.take() }
    }
    func takeProducer() -> RingProducer? { producer.withLock { $0.take() } }
    func takeConsumer() -> RingConsumer? { consumer.withLock { $0.take() } }
}
