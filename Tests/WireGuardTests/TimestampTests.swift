import Testing

@testable import WireGuard

@Suite("Time stamps, stored and received")
struct TimestampTests {
    private let today = TAI64N(unixSeconds: 1_800_000_000, nanoseconds: 0)

    private func moment(_ seconds: Double, _ wallClock: TAI64N) -> Moment {
        Moment(instant: .seconds(seconds), wallClock: wallClock)
    }

    @Test("The stored form is read back, and nothing else is")
    func text() {
        let stamp = TAI64N(seconds: 0x4000_0000_0000_000a, nanoseconds: 999_999_999)
        #expect(stamp.text == "@400000000000000a3b9ac9ff")
        #expect(TAI64N(text: stamp.text) == stamp)
        for bad in [
            "", "@", "400000000000000a3b9ac9ff", "@400000000000000a3b9ac9f", "@400000000000000a3b9ac9ff0",
            "@400000000000000a3b9aca00", "@+00000000000000a3b9ac9ff", "@400000000000000g3b9ac9ff",
            "@40000000 000000a3b9ac9ff", "@４00000000000000a3b9ac9",
        ] {
            #expect(TAI64N(text: bad) == nil, "\(bad)")
        }
    }

    @Test("What is stored covers an hour, is renewed for each one, and starts do not carry it ahead")
    func reserve() throws {
        var source = TimestampGuard(last: .zero)
        var stored = TAI64N.zero
        var writes = 0
        for minute in 0..<600 {
            let stamp = source.next(moment(Double(minute * 60), today + .seconds(UInt64(minute * 60))))
            if let fresh = source.takeUnstored() {
                stored = fresh
                writes += 1
            }
            #expect(stamp <= stored)
        }
        #expect(writes <= 11)
        for start in 0..<1000 {
            var source = TimestampGuard(last: stored)
            let wallClock = today + .seconds(UInt64(36_000 + start))
            let stamp = source.next(moment(Double(start), wallClock))
            #expect(stamp > stored || stamp == wallClock)
            let fresh = source.takeUnstored()
            stored = try #require(fresh)
            #expect(stored > stamp && stored <= wallClock + .seconds(3601))
        }
    }

    @Test("A stored stamp that no clock gave counts as none")
    func absurdStored() {
        var source = TimestampGuard(last: TAI64N(seconds: .max, nanoseconds: 0))
        let stamp = source.next(moment(1, today))
        #expect(stamp == today)
    }

    @Test("A clock two years ahead of what was stored is believed, ten years are not, until a peer stays silent")
    func absence() {
        let year: UInt64 = 31_556_952
        var source = TimestampGuard(last: today)
        let later = today + .seconds(year)
        let believed = source.next(moment(1, later))
        #expect(believed == later)
        var doubting = TimestampGuard(last: today)
        let held = doubting.next(moment(1, today + .seconds(10 * year)))
        #expect(held > today && held < today + .seconds(1) && doubting.isHoldingBack)
        doubting.trustWallClock()
        let trusted = doubting.next(moment(2, today + .seconds(10 * year + 1)))
        #expect(trusted == today + .seconds(10 * year + 1) && !doubting.isHoldingBack)
    }

    @Test("A jump is told once, with its length; drift and restarts are none")
    func jumps() {
        var source = TimestampGuard(last: .zero)
        _ = source.next(moment(1, today))
        _ = source.next(moment(601, today + .seconds(630)))
        let drift = source.takeJump()
        #expect(drift == nil)
        _ = source.next(moment(602, today + .seconds(631 + 7200)))
        let ahead = source.takeJump()
        let again = source.takeJump()
        #expect(ahead == ClockJump(seconds: 7200, isBelieved: true) && again == nil)
        _ = source.next(moment(603, today + .seconds(632)))
        let back = source.takeJump()
        #expect(back == ClockJump(seconds: -7200, isBelieved: true))
        _ = source.next(moment(604, today + .seconds(400_000_633)))
        let absurd = source.takeJump()
        #expect(absurd == ClockJump(seconds: 400_000_000, isBelieved: false))
        _ = source.next(moment(605, today + .seconds(400_000_634)))
        let still = source.takeJump()
        #expect(still == nil)
        var restarted = TimestampGuard(last: today)
        _ = restarted.next(moment(1, today + .seconds(86_400)))
        let off = restarted.takeJump()
        #expect(off == nil)
        var behind = TimestampGuard(last: today)
        _ = behind.next(moment(1, TAI64N(unixSeconds: 1_799_000_000, nanoseconds: 0)))
        let early = behind.takeJump()
        #expect(early == ClockJump(seconds: -996_400, isBelieved: true))
    }

    @Test("Whatever stamps come at whatever time of our clock, none is taken twice", arguments: 0..<50 as Range<UInt64>)
    func neverTwice(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var peer = PeerTimestamps()
        var taken: Set<TAI64N> = []
        for _ in 0..<400 {
            let stamp = TAI64N(unixSeconds: Int64(random.below(40)) * 50_000, nanoseconds: UInt32(random.below(3)))
            let isFresh = peer.isFresh(stamp)
            #expect(!isFresh || !taken.contains(stamp))
            guard isFresh else { continue }
            taken.insert(stamp)
            peer.note(stamp, at: TAI64N(unixSeconds: Int64(random.below(40)) * 50_000, nanoseconds: 0))
        }
        #expect(!taken.isEmpty)
    }

    @Test("Stamps a little ahead of our clock are the rule and no class of their own")
    func smallDifference() {
        var peer = PeerTimestamps()
        for hour in 0..<100 as Range<UInt64> {
            let now = today + .seconds(hour * 3600)
            // One hour ahead and on time by turns would look like a jump that is never repaired.
            let stamp = now + .seconds(hour % 2 == 0 ? 3 : 1)
            #expect(peer.isFresh(stamp))
            peer.note(stamp, at: now)
        }
    }
}
