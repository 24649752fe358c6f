import Testing

@testable import PacketPath

@Suite("Joining opened packets")
struct CoalescingTests {
    /// What may differ after joining: with DF the IPv4 identification has no meaning.
    static func normal(_ packet: [UInt8]) -> [UInt8] {
        guard packet[0] >> 4 == 4, packet[6] & 0x40 != 0 else { return packet }
        var copy = packet
        copy.put16(0, 4)
        copy.put16(0, 10)
        return copy
    }

    /// Addresses, protocol and ports of a whole TCP or UDP packet, else nothing.
    static func flow(_ packet: [UInt8]) -> [UInt8] {
        if packet[0] >> 4 == 6 {
            return packet[6] == 6 || packet[6] == 17 ? Array(packet[6..<7] + packet[8..<44]) : []
        }
        guard packet.get16(6) & 0x3fff == 0, packet[9] == 6 || packet[9] == 17 else { return [] }
        return Array(packet[9..<10] + packet[12..<24])
    }

    /// Packets in order by flow; those without a flow count as a set.
    static func byFlow(_ packets: [[UInt8]]) -> [[UInt8]: [[UInt8]]] {
        var flows: [[UInt8]: [[UInt8]]] = [:]
        for packet in packets { flows[flow(packet), default: []].append(normal(packet)) }
        flows[[]]?.sort { $0.lexicographicallyPrecedes($1) }
        return flows
    }

    /// A packet without a flow or without payload: a fragment, ICMP, an acknowledgement, UDP without a checksum.
    static func oddity(_ random: inout Seeded) -> [UInt8] {
        var sample = Sample.random(&random, payload: Int.random(in: 0...300, using: &random))
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            sample.v6 = false
            var packet = sample.bytes()
            packet.put16(0x2000 | Int.random(in: 0...50, using: &random), 6)
            return packet
        case 1:
            var packet = sample.bytes()
            packet[sample.v6 ? 6 : 9] = sample.v6 ? 58 : 1
            return packet
        case 2:
            sample.tcp = true
            sample.payload = []
            return sample.bytes()
        case 3:
            sample.tcp = false
            sample.v6 = false
            var packet = sample.bytes()
            packet.put16(0, 26)
            return packet
        default:
            sample.tcp = true
            sample.flags = 0x12
            return sample.bytes()
        }
    }

    /// Flows of consecutive segments, mixed in bursts.
    static func mix(_ random: inout Seeded, flows: Int, burst: Int, oddities: Int) -> [[UInt8]] {
        var queues: [[[UInt8]]] = (0..<flows).map { index in
            var sample = Sample.random(&random, payload: 0)
            sample.source = UInt8(index + 1)
            var packets: [[UInt8]] = []
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                sample.payload = random.bytes(Int.random(in: 1...12_000, using: &random))
                packets += sample.segments(Int.random(in: 100...1300, using: &random))
                sample.sequence &+= UInt32(sample.payload.count)
                sample.identification += packets.count
                if random.chance(20) { sample.acknowledgement &+= 1 }
                if random.chance(20) { sample.sequence &+= 1 }
                if random.chance(20) { sample.trafficClass ^= 4 }
            }
            return packets
        }
        var mixed: [[UInt8]] = []
        while queues.contains(where: { !$0.isEmpty }) {
            let index = Int.random(in: 0..<flows, using: &random)
            let count = min(queues[index].count, Int.random(in: 1...burst, using: &random))
            mixed += queues[index].prefix(count)
            queues[index].removeFirst(count)
            if random.chance(oddities) { mixed.append(oddity(&random)) }
        }
        return mixed
    }

    struct Case: Sendable {
        var flows: Int
        var burst: Int
        var oddities: Int
        var dropped: Int
        var forged: Int
        /// The datagrams of one train, at most.
        var train: Int
    }

    static let cases = [
        Case(flows: 1, burst: 100, oddities: 0, dropped: 0, forged: 0, train: 44),
        Case(flows: 1, burst: 100, oddities: 0, dropped: 0, forged: 0, train: 1),
        Case(flows: 3, burst: 20, oddities: 10, dropped: 0, forged: 0, train: 40),
        Case(flows: 5, burst: 1, oddities: 0, dropped: 0, forged: 0, train: 44),
        Case(flows: 20, burst: 2, oddities: 30, dropped: 0, forged: 0, train: 44),
        Case(flows: 1, burst: 100, oddities: 0, dropped: 10, forged: 10, train: 44),
        Case(flows: 4, burst: 6, oddities: 20, dropped: 20, forged: 10, train: 30),
        Case(flows: 12, burst: 3, oddities: 40, dropped: 30, forged: 30, train: 7),
    ]

    @Test("what was joined comes apart into the same packets, in order, without those refused", arguments: cases, 0..<6)
    func roundTrip(_ test: Case, seed: Int) throws {
        var random = Seeded(UInt64(seed) &* 977 &+ UInt64(test.flows * 31 + test.burst))
        let pair = PacketPair()
        var path = try ReceivePath(tun: pair.tun, backend: .sodium)
        for round in 0..<5 {
            let packets = Self.mix(&random, flows: test.flows, burst: test.burst, oddities: test.oddities)
            var expected: [[UInt8]] = []
            var written: [[UInt8]] = []
            var next = 0
            var counter = UInt64(round) << 32
            while next < packets.count {
                let batch = Array(
                    packets[next..<min(packets.count, next + Int.random(in: 1...test.train, using: &random))])
                next += batch.count
                // One train has one stride: pad every packet to the longest.
                let size = batch.map(\.count).max() ?? 16
                var forged: [Bool] = []
                var bytes: [UInt8] = []
                for packet in batch {
                    var one = datagram(packet + [UInt8](repeating: 0, count: size - packet.count), counter: counter)
                    forged.append(random.chance(test.forged))
                    if forged.last == true { one[Int.random(in: 16..<one.count, using: &random)] ^= 1 }
                    bytes += one
                    counter += 1
                }
                let stride = bytes.count / batch.count
                let train = path.take(bytes, stride: stride)
                #expect(train.count == batch.count)
                let run = path.runLength(of: train, from: 0)
                #expect(run == batch.count)
                let taken = path.open(train, from: 0, count: run, key: testKey())
                #expect(taken == batch.count)
                var verdicts = path.packets
                for place in verdicts.indices {
                    let found = verdicts[place]
                    #expect(found.isAuthentic == !forged[place])
                    #expect(found.counter == counter - UInt64(batch.count - place))
                    guard found.isAuthentic else { continue }
                    #expect(found.status == .packet && found.length == batch[place].count)
                    if random.chance(test.dropped) {
                        verdicts[place].keep = false
                    } else {
                        expected.append(batch[place])
                    }
                }
                path.commit()
                if random.chance(20) { path.flush() }
                written += pair.drain()
            }
            path.flush()
            written += pair.drain()
            var got: [[UInt8]] = []
            for one in written { got += try #require(resegment(one), "a super-packet that the kernel would refuse") }
            try #require(Self.byFlow(got) == Self.byFlow(expected), "round \(round) of \(test), seed \(seed)")
            if test.flows == 1, test.dropped == 0 { #expect(written.count < packets.count || packets.count < 4) }
        }
    }

    /// One train from packets of equal size; every packet is kept but those named.
    static func deliver(
        _ path: inout ReceivePath, _ packets: [[UInt8]], dropping: Set<Int> = [], trafficClass: UInt8 = 0
    ) {
        let size = packets.map(\.count).max() ?? 0
        let bytes = packets.enumerated().flatMap {
            datagram($1 + [UInt8](repeating: 0, count: size - $1.count), counter: UInt64($0))
        }
        let train = path.take(bytes, stride: bytes.count / packets.count, trafficClass: trafficClass)
        path.open(train, from: 0, count: packets.count, key: testKey())
        var verdicts = path.packets
        for place in verdicts.indices where dropping.contains(place) { verdicts[place].keep = false }
        path.commit()
    }

    @Test("a bulk train becomes one write and moves no payload", arguments: [false, true])
    func bulk(v6: Bool) throws {
        let pair = PacketPair()
        var path = try ReceivePath(tun: pair.tun, backend: .sodium)
        for tcp in [true, false] {
            let sample = Sample(v6: v6, tcp: tcp, payload: [UInt8](repeating: 7, count: 44 * 1340))
            Self.deliver(&path, sample.segments(1340))
            path.flush()
            let written = pair.drain()
            #expect(written.count == 1)
            let parts = try #require(written.first.flatMap(resegment))
            #expect(parts == sample.segments(1340))
            let moved = path.counters.movedBytes
            #expect(moved == 0)
        }
    }

    @Test("datagrams that arrive one by one are joined across reads")
    func acrossReads() throws {
        let pair = PacketPair()
        var path = try ReceivePath(tun: pair.tun, backend: .sodium)
        let sample = Sample(payload: [UInt8](repeating: 7, count: 8 * 1300))
        for packet in sample.segments(1300) { Self.deliver(&path, [packet]) }
        path.flush()
        #expect(pair.drain().count == 1)
        let moved = path.counters.movedBytes
        #expect(moved == 0)
    }

    @Test("interleaved flows are joined side by side")
    func interleaved() throws {
        let pair = PacketPair()
        var path = try ReceivePath(tun: pair.tun, backend: .sodium)
        let flows = (1...4).map {
            Sample(source: UInt8($0), payload: [UInt8](repeating: 1, count: 8 * 1000)).segments(1000)
        }
        Self.deliver(&path, (0..<8).flatMap { index in flows.map { $0[index] } })
        path.flush()
        #expect(pair.drain().count == 4)
    }

    @Test("a packet dropped in the middle splits a TCP run and shortens a UDP one")
    func dropped() throws {
        for tcp in [true, false] {
            let pair = PacketPair()
            var path = try ReceivePath(tun: pair.tun, backend: .sodium)
            let sample = Sample(tcp: tcp, payload: [UInt8](repeating: 1, count: 10 * 1000))
            let packets = sample.segments(1000)
            Self.deliver(&path, packets, dropping: [4])
            path.flush()
            let written = pair.drain()
            #expect(written.count == (tcp ? 2 : 1))
            let refused = path.counters.drops(.refused)
            #expect(refused == 1)
            var got: [[UInt8]] = []
            for one in written { got += try #require(resegment(one)) }
            let kept = packets.enumerated().filter { $0.offset != 4 }.map(\.element)
            #expect(Self.byFlow(got) == Self.byFlow(kept))
        }
    }

    @Test("no super-packet is longer than an IP packet can be")
    func longest() throws {
        let pair = PacketPair()
        var path = try ReceivePath(tun: pair.tun, backend: .sodium)
        var sample = Sample(payload: [UInt8](repeating: 1, count: 30 * 2000))
        var expected: [[UInt8]] = []
        var written: [[UInt8]] = []
        for _ in 0..<5 {
            let packets = sample.segments(2000)
            Self.deliver(&path, packets)
            expected += packets
            sample.sequence &+= 60_000
            written += pair.drain()
        }
        path.flush()
        written += pair.drain()
        #expect(written.allSatisfy { $0.count <= 65_545 })
        var got: [[UInt8]] = []
        for one in written { got += try #require(resegment(one)) }
        #expect(Self.byFlow(got) == Self.byFlow(expected))
    }

    @Test("an outer congestion mark goes to the inner packet, or drops one that cannot carry it")
    func congestion() throws {
        let pair = PacketPair()
        var path = try ReceivePath(tun: pair.tun, backend: .sodium)
        for v6 in [false, true] {
            var sample = Sample(v6: v6, payload: [UInt8](repeating: 1, count: 3000))
            sample.trafficClass = 0x2a
            Self.deliver(&path, sample.segments(1000), trafficClass: 3)
            path.flush()
            let parts = try #require(pair.drain().first.flatMap(resegment))
            var marked = sample
            marked.trafficClass = 0x2b
            #expect(parts == marked.segments(1000))
            sample.trafficClass = 0x28
            Self.deliver(&path, sample.segments(1000), trafficClass: 3)
            path.flush()
            #expect(pair.drain().isEmpty)
        }
        let dropped = path.counters.drops(.congestionMark)
        #expect(dropped == 6)
    }

    @Test("an empty packet, short datagrams and lengths that lie are told apart")
    func oddLengths() throws {
        let pair = PacketPair()
        var path = try ReceivePath(tun: pair.tun, backend: .sodium)
        func status(_ packet: [UInt8]) -> OpenedPacket.Status? {
            let bytes = datagram(packet, counter: 9)
            let train = path.take(bytes, stride: bytes.count)
            path.open(train, from: 0, count: 1, key: testKey())
            let found = path.packets[0].status
            path.commit()
            path.flush()
            return found
        }
        let good = Sample(payload: [1, 2, 3]).bytes()
        var long = good
        long.put16(200, 2)
        var short = good
        short.put16(19, 2)
        var header = good
        header[0] = 0x4f
        var version = good
        version[0] = 0x75
        let v6 = Sample(v6: true, payload: [1, 2, 3]).bytes()
        var longV6 = v6
        longV6.put16(200, 4)
        for (packet, expected): ([UInt8], OpenedPacket.Status) in [
            ([], .empty), (good, .packet), (v6, .packet), (long, .malformed), (short, .malformed),
            (header, .malformed), (version, .malformed), (longV6, .malformed), ([0x45], .malformed),
            (Array(v6[..<32]), .malformed),
        ] {
            let found = status(packet)
            #expect(found == expected)
        }
        #expect(pair.drain().map { Array($0[10...]) } == [good, v6])
        let train = path.take([UInt8](repeating: 4, count: 31), stride: 31)
        let run = path.runLength(of: train, from: 0)
        #expect(run == 0)
        path.open(train, from: 0, count: 1, key: testKey())
        path.commit()
        let truncated = path.counters.drops(.truncated)
        let malformed = path.counters.drops(.malformed)
        #expect(truncated == 1 && malformed == 7)
    }

    @Test("switched off, every packet is written as it is")
    func switches() throws {
        for (tso, uso) in [(false, true), (true, false), (false, false)] {
            var options = PathOptions()
            options.tunTSO = tso
            options.tunUSO = uso
            let pair = PacketPair()
            var path = try ReceivePath(tun: pair.tun, backend: .sodium, options: options)
            for tcp in [true, false] {
                let packets = Sample(tcp: tcp, payload: [UInt8](repeating: 1, count: 5000)).segments(1000)
                Self.deliver(&path, packets)
                path.flush()
                let written = pair.drain()
                if tcp ? tso : uso {
                    #expect(written.count == 1)
                } else {
                    #expect(written == packets.map { [UInt8](repeating: 0, count: 10) + $0 })
                }
            }
        }
        let pair = PacketPair(offloads: [])
        var path = try ReceivePath(tun: pair.tun, backend: .sodium)
        Self.deliver(&path, Sample(payload: [UInt8](repeating: 1, count: 5000)).segments(1000))
        path.flush()
        #expect(pair.drain().count == 5)
    }

    @Test(
        "a super-packet that the TUN refuses is written as its segments, and no other is joined",
        arguments: [false, true])
    func refusedWrite(v6: Bool) throws {
        for tcp in [true, false] {
            let pair = PacketPair()
            var path = try ReceivePath(tun: pair.tun, backend: .sodium)
            let sample = Sample(v6: v6, tcp: tcp, flags: 0x18, payload: [UInt8](repeating: 1, count: 9500))
            Self.deliver(&path, Array(sample.segments(1000).dropLast()))
            #expect(path.tableCount == 1)
            let run = path.table[0]
            let header = run.stamp(path.slab.view(run.slot))
            path.mend(run, header, -22)
            let written = pair.drain()
            #expect(written.allSatisfy { $0[..<10].allSatisfy { $0 == 0 } })
            var whole = sample
            whole.payload.removeLast(500)
            whole.flags = 0x10
            #expect(written.map { Array($0[10...]) } == whole.segments(1000))
            #expect(path.counters.writeFallbacks == 1)
            #expect(path.joinsTCP == !tcp && path.joinsUDP == tcp)
            path.tableCount = 0
            Self.deliver(&path, sample.segments(1000))
            path.flush()
            #expect(pair.drain().count == 10)
        }
    }

    @Test(
        "packets in both directions leave the heap as it was", .disabled(if: keepsFreedMemory, "a sanitizer"))
    func heap() async {
        await #expect(processExitsWith: .success) {
            var transmit = try TransmitPath(backend: .sodium)
            var receive = try ReceivePath(discarding: .sodium)
            let sample = Sample(payload: [UInt8](repeating: 1, count: 44 * 1368)).superPacket(segment: 1368)
            let peer = PeerAddress(address: .v4(1), port: 1)
            var before = 0
            for round in 0..<1000 {
                guard transmit.take(sample) == .packet,
                    transmit.seal(key: testKey(), prefix: 4, firstCounter: 0, mtu: 1420) == .complete
                else { fatalError("not sealed") }
                let train = receive.load(
                    transmit.trainBytes, stride: transmit.trainShape.stride, from: peer)
                guard receive.open(train, from: 0, count: train.count, key: testKey()) == 44 else {
                    fatalError("not opened")
                }
                receive.commit()
                receive.flush()
                transmit.discardTrain()
                if round == 100 { before = anonymousKilobytes() }
            }
            guard receive.counters.packets == 44_000, receive.counters.movedBytes == 0 else { fatalError("not joined") }
            // Sixteen bytes lost a packet would be 600 KiB.
            guard before > 0, anonymousKilobytes() - before < 300 else { fatalError("the heap grew") }
        }
    }
}
