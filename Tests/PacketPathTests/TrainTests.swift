import Testing

@testable import PacketPath

@Suite("Trains of datagrams")
struct TrainTests {
    static func load(_ path: inout TransmitPath, bytes count: Int, trafficClass: UInt8 = 0) {
        var sample = Sample(tcp: false, payload: [UInt8](repeating: 1, count: count - 28))
        sample.trafficClass = trafficClass
        let outcome = path.take([UInt8](repeating: 0, count: 10) + sample.bytes())
        #expect(outcome == .packet)
    }

    static func add(_ path: inout TransmitPath, bytes count: Int, trafficClass: UInt8 = 0) -> SealOutcome {
        load(&path, bytes: count, trafficClass: trafficClass)
        return path.seal(key: testKey(), prefix: 4, firstCounter: 0, mtu: 1420)
    }

    @Test("equal datagrams follow each other, a shorter one ends the train, a longer one does not fit")
    func sizes() throws {
        var path = try TransmitPath(backend: .sodium)
        #expect(Self.add(&path, bytes: 1000) == .complete)
        #expect(Self.add(&path, bytes: 1008) == .complete)
        #expect(Self.add(&path, bytes: 1009) == .trainFull)
        // The packet that did not fit goes on after a flush.
        path.discardTrain()
        var again = path.seal(key: testKey(), prefix: 4, firstCounter: 0, mtu: 1420)
        #expect(again == .complete)
        #expect(Self.add(&path, bytes: 500) == .complete)
        #expect(Self.add(&path, bytes: 500) == .trainFull)
        #expect(path.trainShape.count == 2)
        #expect(path.trainShape.stride == 1056)
        path.discardTrain()
        again = path.seal(key: testKey(), prefix: 4, firstCounter: 0, mtu: 1420)
        #expect(again == .complete)
    }

    @Test(
        "a train has at most 64 datagrams and 65,507 bytes",
        arguments: [(200, 64), (1420, 45), (1000, 62), (16_000, 4)])
    func limits(bytes: Int, expected: Int) throws {
        var path = try TransmitPath(backend: .sodium)
        var count = 0
        while Self.add(&path, bytes: bytes) == .complete, count < 100 { count += 1 }
        #expect(count == expected)
        let shape = path.trainShape
        #expect(shape.count == expected && shape.stride * shape.count <= 65_507)
    }

    @Test("datagrams of one train have the same ECN field, and it is the inner one")
    func congestion() throws {
        var path = try TransmitPath(backend: .sodium)
        #expect(Self.add(&path, bytes: 1000, trafficClass: 0xba) == .complete)
        #expect(path.train.trafficClass == 2)
        #expect(Self.add(&path, bytes: 1000, trafficClass: 0x02) == .complete)
        #expect(Self.add(&path, bytes: 1000, trafficClass: 0xb9) == .trainFull)
    }

    @Test("a super-packet larger than a train is sealed in two, with counters that go on")
    func splitting() throws {
        var path = try TransmitPath(backend: .sodium)
        let sample = Sample(payload: [UInt8](repeating: 5, count: 47 * 1380))
        let taken = path.take(sample.superPacket(segment: 1380))
        #expect(taken == .packet)
        var counters: [UInt64] = []
        var packets: [[UInt8]] = []
        var outcomes: [SealOutcome] = []
        repeat {
            outcomes.append(path.seal(key: testKey(), prefix: 4, firstCounter: 500, mtu: 1420))
            for one in openedTrain(path, key: testKeyBytes, prefix: 4) {
                counters.append(one.counter)
                packets.append(one.packet)
            }
            path.discardTrain()
        } while outcomes.last == .trainFull
        #expect(outcomes == [.trainFull, .complete])
        #expect(counters == Array(500..<547))
        #expect(packets == sample.segments(1380))
    }

    @Test("a packet that no datagram can hold is dropped and counted")
    func tooLarge() throws {
        var path = try TransmitPath(backend: .sodium)
        Self.load(&path, bytes: 65_500)
        let outcome = path.seal(key: testKey(), prefix: 4, firstCounter: 0, mtu: 0)
        #expect(outcome == .complete)
        let empty = path.isEmpty
        let drops = path.counters.drops(.tooLarge)
        #expect(empty && drops == 1)
    }

    @Test("a keep-alive is 32 authenticated bytes")
    func keepAlive() throws {
        var path = try TransmitPath(backend: .sodium)
        let outcome = path.sealEmpty(key: testKey(), prefix: 0x1122_3344_0000_0004, counter: 77)
        #expect(outcome == .complete)
        let bytes = Array(copying: path.trainBytes)
        #expect(bytes == datagram([], counter: 77, prefix: 0x1122_3344_0000_0004))
    }

    @Test("a packet kept for later is sealed as if it had just been read")
    func staged() throws {
        var path = try TransmitPath(backend: .sodium)
        let packet = Sample(payload: [1, 2, 3]).bytes()
        let taken = unsafe path.load(packet.span.bytes)
        #expect(taken == .packet)
        let outcome = path.seal(key: testKey(), prefix: 4, firstCounter: 3, mtu: 1420)
        #expect(outcome == .complete)
        #expect(Array(copying: path.trainBytes) == datagram(packet, counter: 3))
    }
}
