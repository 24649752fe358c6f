import Testing

@testable import PacketPath

/// Runs `body` on a path whose cipher is libsodium.
func openedTrain(_ path: borrowing TransmitPath, key: [UInt8], prefix: UInt64) -> [(counter: UInt64, packet: [UInt8])] {
    let shape = path.trainShape
    let bytes = Array(copying: path.trainBytes)
    return (0..<shape.count).compactMap { index in
        let datagram = Array(bytes[index * shape.stride..<min(bytes.count, (index + 1) * shape.stride)])
        guard littleEndian(datagram[0..<8]) == prefix else { return nil }
        let counter = littleEndian(datagram[8..<16])
        guard let plain = sodiumOpen(Array(datagram[16...]), key: key, counter: counter) else { return nil }
        return (counter, plain)
    }
}

func littleEndian(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
}

@Suite("Super-packets from the TUN")
struct SegmentationTests {
    @Test("segments of random super-packets equal a naive segmenter's byte for byte", arguments: 0..<40)
    func againstNaive(seed: Int) throws {
        var random = Seeded(UInt64(seed))
        var path = try TransmitPath(backend: .sodium)
        for _ in 0..<25 {
            let sample = Sample.random(
                &random, payload: Int.random(in: 1...(random.chance(20) ? 60_000 : 9000), using: &random))
            let size = Int.random(
                in: max(64, sample.payload.count / 60)...max(64, sample.payload.count), using: &random)
            let mtu = random.chance(50) ? 0 : sample.headerLength + size
            let super_ = sample.superPacket(segment: size)
            guard super_.count <= 65_545 else { continue }
            let taken = path.take(super_)
            #expect(taken == .packet)
            let expected = sample.segments(size)
            #expect(path.packet.segmentCount == expected.count)
            #expect(path.packet.family == (sample.v6 ? 6 : 4))
            #expect(path.packet.trafficClass == sample.trafficClass)
            var got: [[UInt8]] = []
            path.begin(to: .init(address: .v4(1), port: 1), from: nil, tag: 1)
            while true {
                let outcome = path.seal(key: testKey(), prefix: 0x0102_0304_0000_0004, firstCounter: 1000, mtu: mtu)
                for (counter, packet) in openedTrain(path, key: testKeyBytes, prefix: 0x0102_0304_0000_0004) {
                    #expect(counter == 1000 + UInt64(got.count))
                    got.append(packet)
                }
                path.discardTrain()
                if outcome == .complete { break }
            }
            try #require(got.count == expected.count)
            for (index, packet) in got.enumerated() {
                let want = expected[index]
                #expect(Array(packet.prefix(want.count)) == want, "segment \(index) of \(sample.tcp) \(sample.v6)")
                let padding = packet.dropFirst(want.count)
                #expect(padding.allSatisfy { $0 == 0 })
                #expect(packet.count == naivePadding(want.count, mtu: mtu))
            }
        }
    }

    func naivePadding(_ length: Int, mtu: Int) -> Int {
        var padded = length
        while padded % 16 != 0, mtu == 0 || (padded % mtu != 0 || padded == 0) { padded += 1 }
        return padded
    }

    @Test(
        "padding never goes beyond the MTU",
        arguments: [
            (1420, 1420, 1420), (1419, 1420, 1420), (1408, 1420, 1408), (1409, 1420, 1420), (1, 1420, 16), (0, 1420, 0),
            (34_736, 34_736, 34_736), (1500, 1420, 1500), (1501, 1420, 1516), (5, 0, 16), (1280, 1280, 1280),
            (1279, 1280, 1280), (2840, 1420, 2840),
        ])
    func padding(length: Int, mtu: Int, expected: Int) {
        #expect(paddedLength(length, mtu: mtu) == expected)
    }

    @Test("a plain packet's missing checksum is completed, and a UDP checksum of 0 becomes 0xFFFF")
    func completion() throws {
        var path = try TransmitPath(backend: .sodium)
        var zeroes = 0
        for value in 0...65_535 where value % 7 == 0 || value > 65_000 {
            var sample = Sample(tcp: false, payload: [UInt8(value >> 8), UInt8(value & 255)])
            sample.sourcePort = 1
            sample.destinationPort = 1
            var header = [UInt8](repeating: 0, count: 10)
            header[0] = 1
            header.putNative16(20, 6)
            header.putNative16(6, 8)
            let taken = path.take(header + sample.bytes(partial: true))
            #expect(taken == .packet)
            let packet = Array(copying: path.packetBytes)
            #expect(packet == sample.bytes())
            #expect(packet.get16(26) != 0)
            if packet.get16(26) == 0xffff { zeroes += 1 }
        }
        // Every sum is met once in 65,536 payloads; this loop sees at least one of them when it sees them all.
        #expect(zeroes <= 2)
        var sample = Sample(tcp: false, payload: [0, 0])
        let missing = ~sample.bytes().get16(26) & 0xffff
        sample.payload = [UInt8((~missing & 0xffff) >> 8), UInt8(~missing & 0xff)]
        var header = [UInt8](repeating: 0, count: 10)
        header[0] = 1
        header.putNative16(20, 6)
        header.putNative16(6, 8)
        let last = path.take(header + sample.bytes(partial: true))
        #expect(last == .packet)
        let filled = Array(copying: path.packetBytes).get16(26)
        #expect(filled == 0xffff)
    }

    @Test("a segment whose UDP checksum comes to 0 has 0xFFFF", arguments: [false, true])
    func zeroOfSegment(v6: Bool) throws {
        var path = try TransmitPath(backend: .sodium)
        var sample = Sample(v6: v6, tcp: false, payload: [0, 0] + [UInt8](repeating: 5, count: 1998))
        let place = (v6 ? 40 : 20) + 6
        // As the first word of the payload, the checksum without it brings the sum to 0xFFFF.
        let missing = try #require(sample.segments(1000).first).get16(place)
        sample.payload[0] = UInt8(missing >> 8)
        sample.payload[1] = UInt8(missing & 255)
        let taken = path.take(sample.superPacket(segment: 1000))
        #expect(taken == .packet)
        let first = takeSegment(&path)
        #expect(first?.get16(place) == 0xffff)
        #expect(first == sample.segments(1000).first)
    }

    @Test("IPv6 extension headers stay in front of every segment")
    func extensionHeaders() throws {
        var path = try TransmitPath(backend: .sodium)
        let sample = Sample(v6: true, options: [1, 1, 1, 1], payload: [UInt8](repeating: 9, count: 3000))
        let plain = sample.bytes(partial: true)
        // Eight bytes of destination options before the TCP header.
        var packet = Array(plain[..<40]) + [6, 0, 1, 4, 0, 0, 0, 0] + Array(plain[40...])
        packet[6] = 60
        packet.put16(packet.count - 40, 4)
        var header = sample.superPacket(segment: 1000)[..<10].map { $0 }
        header.putNative16(48, 6)
        let taken = path.take(header + packet)
        #expect(taken == .packet)
        for (index, want) in sample.segments(1000).enumerated() {
            let taken = takeSegment(&path)
            let segment = try #require(taken)
            #expect(segment.get16(4) == segment.count - 40)
            #expect(Array(segment[40..<48]) == [6, 0, 1, 4, 0, 0, 0, 0])
            #expect(Array(segment[48...]) == Array(want[40...]), "segment \(index)")
        }
        let after = takeSegment(&path)
        #expect(after == nil)
    }

    func takeSegment(_ path: inout TransmitPath) -> [UInt8]? {
        guard let span = path.takeSegment() else { return nil }
        return Array(copying: span)
    }

    @Test("bytes that are no packet are dropped with a reason and never trap")
    func badPackets() throws {
        var path = try TransmitPath(backend: .sodium)
        let good = Sample(payload: [UInt8](repeating: 1, count: 100)).superPacket(segment: 50)
        func load(_ change: (inout [UInt8]) -> Void) -> ReadOutcome {
            var bytes = good
            change(&bytes)
            return path.take(bytes)
        }
        #expect(load { _ in } == .packet)
        #expect(load { $0[1] = 9 } == .dropped(.malformed))
        #expect(load { $0[1] = 4 } == .dropped(.malformed))
        #expect(load { $0.putNative16(0, 4) } == .dropped(.malformed))
        #expect(load { $0.putNative16(60_000, 6) } == .dropped(.malformed))
        #expect(load { $0.putNative16(60_000, 8) } == .dropped(.malformed))
        #expect(
            load {
                $0[1] = 0; $0.putNative16(60_000, 6)
            } == .dropped(.malformed))
        #expect(
            load {
                $0[1] = 0; $0.putNative16(65_535, 8)
            } == .dropped(.malformed))
        #expect(load { $0[10] = 0x15 } == .dropped(.malformed))
        #expect(load { $0[10] = 0x44 } == .dropped(.malformed))
        #expect(load { $0.put16(2000, 12) } == .dropped(.truncated))
        #expect(load { $0[42] = 0xf0 } == .packet)
        #expect(load { $0[42] = 0x10 } == .dropped(.malformed))
        #expect(load { $0.removeLast($0.count - 15) } == .dropped(.truncated))
        #expect(load { $0 = [] } == .dropped(.truncated))
        var random = Seeded(5)
        for _ in 0..<20_000 {
            var bytes = good
            for _ in 0...Int.random(in: 0...4, using: &random) {
                bytes[Int.random(in: 0..<60, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard path.take(bytes) == .packet else { continue }
            while path.seal(key: testKey(), prefix: 4, firstCounter: 0, mtu: 1420) == .trainFull { path.discardTrain() }
            path.discardTrain()
        }
    }
}
