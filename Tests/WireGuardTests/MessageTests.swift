import Testing

@testable import WireGuard

@Suite("Messages")
struct MessageTests {
    @Test("Each type has its exact length, and reserved bytes are zero")
    func kinds() {
        let exact: [UInt8: (Int, MessageKind)] = [1: (148, .initiation), 2: (92, .response), 3: (64, .cookieReply)]
        for type in UInt8(0)...8 {
            for length in 0..<200 {
                var bytes = [UInt8](repeating: 0, count: length)
                if length > 0 { bytes[0] = type }
                let expected: MessageKind? =
                    type == 4 ? (length >= 32 ? .data : nil) : exact[type].flatMap { $0.0 == length ? $0.1 : nil }
                #expect(MessageKind(bytes) == expected, "type \(type), length \(length)")
                #expect((DataHeader(bytes) != nil) == (expected == .data))
                guard length >= 4 else { continue }
                bytes[1 + length % 3] = 1
                #expect(MessageKind(bytes) == nil)
            }
        }
    }

    @Test("Messages have the sizes of the wire")
    func sizes() {
        #expect(MemoryLayout<Key256>.size == 32)
        #expect(Offset.initiationMAC1 + 32 == MessageSize.initiation)
        #expect(Offset.responseMAC1 + 32 == MessageSize.response)
        #expect(Offset.cookieSealed + 32 == MessageSize.cookieReply)
        #expect(DropReason.allCases.count == DropReason.count)
    }

    @Test("Padding goes to 16 bytes and never beyond the MTU")
    func padding() {
        let cases = [
            (0, 1420, 0), (1, 1420, 16), (16, 1420, 16), (17, 1420, 32), (1408, 1420, 1408), (1409, 1420, 1420),
            (1420, 1420, 1420), (1421, 1420, 1436), (2840, 1420, 2840), (2845, 1420, 2856), (100, 0, 112),
            (1500, 0, 1504),
        ]
        for (length, mtu, padded) in cases {
            #expect(Padding.paddedLength(of: length, mtu: mtu) == padded, "\(length) in \(mtu)")
        }
        for length in 0...3000 {
            let padded = Padding.paddedLength(of: length, mtu: 1280)
            #expect(padded >= length && padded < length + 16)
            #expect(length > 1280 || padded <= 1280)
        }
    }

    @Test("Inner headers that lie about their length are refused")
    func innerPackets() throws {
        let packet = World.packet(from: 0x0a00_0001, to: 0x0a00_0002, id: 3)
        let inner = try #require(InnerPacket(packet + [0, 0, 0]))
        #expect(inner.length == 32 && inner.source == .v4(0x0a00_0001) && inner.destination == .v4(0x0a00_0002))
        for count in 0..<32 { #expect(InnerPacket(Array(packet[..<count])) == nil) }
        var short = packet
        short[3] = 19
        #expect(InnerPacket(short) == nil)
        var v6 = [UInt8](repeating: 0, count: 48)
        v6[0] = 0x60
        v6[5] = 8
        v6[23] = 1
        v6[24] = 0xfd
        let parsed = try #require(InnerPacket(v6))
        #expect(parsed.length == 48 && parsed.source == .v6(1) && parsed.destination == .v6(0xfd << 120))
        for count in 0..<48 { #expect(InnerPacket(Array(v6[..<count])) == nil) }
        for version in 0..<UInt8(16) where version != 4 && version != 6 {
            v6[0] = version << 4
            #expect(InnerPacket(v6) == nil)
        }
    }

    @Test("Every flipped bit of transport data is noticed")
    func tamperedData() {
        var random = SplitMix(seed: 1)
        let key = random.key()
        let sealed = TransportMessage.seal(
            [1, 2, 3], paddedTo: 16, key: key, header: DataHeader(receiverIndex: 5, counter: 1 << 40))
        #expect(TransportMessage.open(sealed, key: key)?.count == 16)
        for bit in 8 * 8..<sealed.count * 8 {
            var bad = sealed
            bad[bit / 8] ^= 1 << (bit % 8)
            #expect(TransportMessage.open(bad, key: key) == nil, "bit \(bit)")
        }
    }

    @Test("Time stamps always rise, whatever the wall clock does")
    func timestamps() {
        var random = SplitMix(seed: 3)
        var source = TimestampGuard(last: .zero)
        var last = TAI64N.zero
        var instant = Instant.seconds(1)
        for _ in 0..<2000 {
            instant = instant + .milliseconds(random.next() % 5000)
            let wall = TAI64N(unixSeconds: Int64(random.next() % 4_000_000_000), nanoseconds: 999_999_999)
            let stamp = source.next(Moment(instant: instant, wallClock: wall))
            #expect(stamp > last && stamp.nanoseconds < 1_000_000_000)
            last = stamp
        }
    }

    @Test("An absurd jump ahead is held back, a repair of an unset clock is followed")
    func absurdJump() {
        let year: Int64 = 31_556_952
        let today = TAI64N(unixSeconds: 1_800_000_000, nanoseconds: 0)
        var source = TimestampGuard(last: .zero)
        _ = source.next(Moment(instant: .seconds(1), wallClock: TAI64N(unixSeconds: 5, nanoseconds: 0)))
        let repaired = source.next(Moment(instant: .seconds(2), wallClock: today))
        #expect(repaired == today && !source.isHoldingBack)
        let ahead = TAI64N(unixSeconds: 1_800_000_000 + 10 * year, nanoseconds: 0)
        let held = source.next(Moment(instant: .seconds(12), wallClock: ahead))
        #expect(held == today + .seconds(10) && source.isHoldingBack)
        let hour = source.next(Moment(instant: .seconds(13), wallClock: today + .seconds(3600)))
        #expect(hour == today + .seconds(3600) && !source.isHoldingBack)
        let back = source.next(Moment(instant: .seconds(14), wallClock: TAI64N(unixSeconds: 0, nanoseconds: 0)))
        #expect(back > hour && back < hour + .seconds(1))
        var restarted = TimestampGuard(last: back)
        let after = restarted.next(Moment(instant: .seconds(1), wallClock: today))
        #expect(after > back)
    }
}
