import Testing

@testable import WireGuard

@Suite("Cookies, MACs and the rate limiter")
struct CookieTests {
    let start = Instant.seconds(100)
    let source: Endpoint
    var random = SplitMix(seed: 7)
    let key: Key256
    var checker: CookieChecker
    var keeper: CookieKeeper

    init() throws {
        source = try #require(Endpoint("192.0.2.9:4000"))
        key = PrivateKey(random.key()).publicKey.key
        checker = CookieChecker(key)
        keeper = CookieKeeper(key)
    }

    private func body(_ count: Int) -> [UInt8] {
        [1, 0, 0, 0, 9, 8, 7, 6] + (8..<count).map { UInt8(truncatingIfNeeded: $0) }
    }

    @Test("A cookie opens the door to its address and port, for its time, and to no other")
    mutating func roundTrip() throws {
        var first = body(116)
        keeper.appendMACs(to: &first, now: start)
        #expect(checker.hasValidMAC1(bytes: first))
        let before = checker.hasValidMAC2(bytes: first, from: source, now: start)
        #expect(!before)
        let reply = checker.reply(to: first.rawBytes, from: source, now: start, random: &random)
        #expect(reply.count == MessageSize.cookieReply && MessageKind(reply) == .cookieReply)
        #expect(Array(reply[4..<8]) == [9, 8, 7, 6])
        let taken = keeper.consume(bytes: reply, now: start)
        #expect(taken)
        let again = keeper.consume(bytes: reply, now: start)
        #expect(!again)
        var second = body(116)
        keeper.appendMACs(to: &second, now: start + .seconds(114))
        let valid = checker.hasValidMAC2(bytes: second, from: source, now: start + .seconds(114))
        #expect(valid)
        let otherPort = Endpoint(source.address, port: 4001, scope: 0)
        let wrongPort = checker.hasValidMAC2(bytes: second, from: otherPort, now: start + .seconds(114))
        #expect(!wrongPort)
        let otherHost = Endpoint(.v4(1), port: 4000, scope: 0)
        let wrongHost = checker.hasValidMAC2(bytes: second, from: otherHost, now: start + .seconds(114))
        #expect(!wrongHost)
        let late = checker.hasValidMAC2(bytes: second, from: source, now: start + .seconds(120))
        #expect(!late)
        var third = body(116)
        keeper.appendMACs(to: &third, now: start + .seconds(115))
        #expect(third.suffix(16).allSatisfy { $0 == 0 })
        // The secret is renewed with the next reply: the old cookie is void.
        var fourth = body(116)
        keeper.appendMACs(to: &fourth, now: start + .seconds(121))
        _ = checker.reply(to: fourth.rawBytes, from: source, now: start + .seconds(121), random: &random)
        let renewed = checker.hasValidMAC2(bytes: second, from: source, now: start + .seconds(122))
        #expect(!renewed)
    }

    @Test("Every flipped bit of a cookie reply is noticed")
    mutating func tamperedReply() {
        var message = body(116)
        keeper.appendMACs(to: &message, now: start)
        let reply = checker.reply(to: message.rawBytes, from: source, now: start, random: &random)
        for bit in Offset.cookieNonce * 8..<MessageSize.cookieReply * 8 {
            var bad = reply
            bad[bit / 8] ^= 1 << (bit % 8)
            let taken = keeper.consume(bytes: bad, now: start)
            #expect(!taken, "bit \(bit)")
        }
        var other = CookieKeeper(key)
        let unsolicited = other.consume(bytes: reply, now: start)
        #expect(!unsolicited)
    }

    @Test("Every flipped bit under MAC1 is noticed, with both message sizes", arguments: [116, 60])
    mutating func tamperedMAC1(count: Int) {
        var message = body(count)
        keeper.appendMACs(to: &message, now: start)
        for bit in 0..<(count + 16) * 8 {
            var bad = message
            bad[bit / 8] ^= 1 << (bit % 8)
            #expect(!checker.hasValidMAC1(bytes: bad), "bit \(bit)")
        }
    }

    @Test("Twenty a second, five at once, each source for itself, IPv6 by /64")
    func rateLimit() throws {
        var limiter = RateLimiter()
        var now = start
        let v6 = try #require(Endpoint("[2001:db8::1]:1"))
        let neighbour = try #require(Endpoint("[2001:db8::ffff]:2"))
        let stranger = try #require(Endpoint("[2001:db8:0:1::1]:1"))
        for _ in 0..<5 {
            let first = limiter.allow(source, now: now)
            let second = limiter.allow(v6, now: now)
            #expect(first && second)
        }
        let sixth = limiter.allow(source, now: now)
        let sameNetwork = limiter.allow(neighbour, now: now)
        let otherNetwork = limiter.allow(stranger, now: now)
        #expect(!sixth && !sameNetwork && otherNetwork)
        var allowed = 0
        for _ in 0..<10_000 {
            now = now + .milliseconds(1)
            if limiter.allow(source, now: now) { allowed += 1 }
        }
        #expect(allowed == 200)
        now = now + .seconds(3600)
        var burst = 0
        for _ in 0..<100 where limiter.allow(source, now: now) { burst += 1 }
        #expect(burst == 5)
    }

    @Test("The table of sources is bounded, and idle sources make room")
    func rateLimiterIsBounded() {
        var limiter = RateLimiter()
        for address in 0..<UInt32(RateLimiter.capacity + 100) {
            _ = limiter.allow(Endpoint(.v4(address), port: 1, scope: 0), now: start)
        }
        #expect(limiter.count == RateLimiter.capacity)
        let refused = limiter.allow(Endpoint(.v4(.max), port: 1, scope: 0), now: start + .milliseconds(500))
        #expect(!refused)
        let allowed = limiter.allow(Endpoint(.v4(.max), port: 1, scope: 0), now: start + .seconds(2))
        #expect(allowed)
        #expect(limiter.count == 1)
    }
}
