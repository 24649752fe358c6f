import Testing

@testable import WireGuard

@Suite("A device under a flood of handshakes")
final class FloodTests {
    let world: World
    private var random = SplitMix(seed: 91)

    init() throws {
        world = try World(seed: 90)
    }

    private func load() {
        world.right.device.noteQueue(depth: 256, capacity: 256, now: world.now)
    }

    /// The right device's verdict on a datagram, and what it sent.
    private func give(_ bytes: [UInt8], from number: Int, isNewcomer: Bool = false) -> (DropReason?, [[UInt8]]) {
        let source = Endpoint(.v4(0x0b00_0000 + UInt32(number)), port: 9, scope: 0)
        let reason = world.right.device.handleDatagram(
            bytes.rawBytes, from: source, isNewcomer: isNewcomer, now: .at(world.now), random: &random)
        var sent: [[UInt8]] = []
        while let action = world.right.device.pollAction() {
            if case .transmit(let bytes, _) = action { sent.append(bytes) }
        }
        return (reason, sent)
    }

    /// A keeper that makes the MACs of messages to the right device.
    private func keeper() throws -> CookieKeeper { CookieKeeper(try #require(world.right.publicKey).key) }

    /// Random bytes with a right first MAC, and a second one if the keeper has a cookie.
    private func forged(_ keeper: inout CookieKeeper) -> [UInt8] {
        var message: [UInt8] = [1, 0, 0, 0] + (4..<116).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        keeper.appendMACs(to: &message, now: world.now)
        return message
    }

    @Test("65,536 sources without a cookie get cookie replies, and nothing is kept of them")
    func manySources() throws {
        var keeper = try keeper()
        let message = forged(&keeper)
        for number in 0..<65_536 {
            if number % 1000 == 0 { load() }
            let (reason, sent) = give(message, from: number)
            guard reason == .cookieRequired, sent.count == 1, sent[0].count == MessageSize.cookieReply else {
                Issue.record("source \(number): \(String(describing: reason))")
                return
            }
        }
        let device = (world.right.device.limiter.count, world.right.device.handshakes.count)
        #expect(device == (0, 0) && world.right.transport.sessionCount == 0)
        #expect(world.right.device.drops[.cookieRequired] == 65_536 && world.right.device.drops.total == 65_536)
    }

    @Test("With a cookie a source is served 20 times a second, five at once, and not under another address")
    func withCookie() throws {
        load()
        var keeper = try keeper()
        let (_, replies) = give(forged(&keeper), from: 1)
        let reply = try #require(replies.first)
        let taken = keeper.consume(bytes: reply, now: world.now)
        #expect(taken)
        var counts: [DropReason?: Int] = [:]
        for _ in 0..<2000 {
            load()
            counts[give(forged(&keeper), from: 1).0, default: 0] += 1
            world.now = world.now + .milliseconds(1)
        }
        #expect(counts == [.authenticationFailed: 44, .rateLimited: 1956])
        let (elsewhere, _) = give(forged(&keeper), from: 2)
        world.now = world.now + .seconds(121)
        load()
        let (late, _) = give(forged(&keeper), from: 1)
        #expect(elsewhere == .cookieRequired && late == .cookieRequired)
    }

    @Test("Of newcomers 25 at once and 250 a second are answered without a cookie")
    func newcomers() throws {
        load()
        var keeper = try keeper()
        let message = forged(&keeper)
        func answered(_ count: Int) -> Int {
            load()
            return (0..<count).count { give(message, from: $0, isNewcomer: true).0 == .authenticationFailed }
        }
        #expect(answered(1000) == 25)
        var sum = 0
        for _ in 0..<100 {
            world.now = world.now + .milliseconds(10)
            sum += answered(100)
        }
        #expect(sum == 250)
    }

    @Test("A new peer connects with its first initiation, and our own initiation is answered, while the flood goes on")
    func honest() throws {
        var keeper = try keeper()
        let message = forged(&keeper)
        var initiation: [UInt8] = []
        world.filter = { bytes, isFromLeft in
            if isFromLeft { initiation = bytes }
            return false
        }
        world.sendLeft(1)
        load()
        for number in 0..<500 { _ = give(message, from: number) }
        let (reason, sent) = give(initiation, from: 501, isNewcomer: true)
        #expect(reason == nil && sent.first?.count == MessageSize.response)
        // The right device begins a handshake of its own: the answer names its index.
        let other = try World(seed: 92)
        for _ in 0..<100 { other.right.device.noteQueue(depth: 256, capacity: 256, now: other.now) }
        other.delay = .milliseconds(5)
        other.sendRight(1)
        other.run(seconds: 0.9)
        #expect(other.leftGot(1) && other.right.device.drops.total == 0)
    }

    @Test("Every message of a mixed flood is counted for exactly one reason")
    func sums() throws {
        var keeper = try keeper()
        let good = forged(&keeper)
        var passed = 0
        for number in 0..<3000 {
            if number % 7 == 0 { load() }
            world.now = world.now + .milliseconds(UInt64(random.below(300)))
            var bytes = good
            switch random.below(5) {
            case 0: bytes[random.below(bytes.count)] ^= 1 << UInt8(random.below(8))
            case 1: bytes.removeLast(random.below(bytes.count) + 1)
            case 2: bytes = [3, 0, 0, 0] + Array(bytes[..<60])
            case 3: bytes = [2, 0, 0, 0] + Array(bytes[..<88])
            default: break
            }
            if give(bytes, from: random.below(50), isNewcomer: random.chance(300)).0 == nil { passed += 1 }
        }
        #expect(passed == 0 && world.right.device.drops.total == 3000)
    }

    @Test("A source is known for 30 to 60 s, IPv6 by /64, and 65,536 of them hide few others")
    func sources() throws {
        var memory = SourceMemory()
        var now = world.now
        func isNew(_ text: String) throws -> Bool {
            let source = try #require(Endpoint(text))
            return memory.note(source, now: now)
        }
        let four = try [isNew("192.0.2.1:1"), isNew("192.0.2.1:2"), isNew("192.0.2.2:1")]
        let six = try [isNew("[2001:db8::1]:1"), isNew("[2001:db8::ffff]:1"), isNew("[2001:db8:0:1::1]:1")]
        #expect(four == [true, false, true] && six == [true, false, true])
        now = now + .seconds(29)
        let early = try isNew("192.0.2.1:1")
        now = now + .seconds(61)
        let late = try isNew("192.0.2.1:1")
        #expect(!early && late)
        var (flood, honest) = (0, 0)
        for number in 0..<66_536 as Range<UInt32> {
            let source = Endpoint(.v4(number), port: 1, scope: 0)
            let isNew = memory.note(source, now: now)
            if number < 65_536 { flood += isNew ? 1 : 0 } else { honest += isNew ? 1 : 0 }
        }
        #expect(flood > 65_000 && honest > 950)
    }
}
