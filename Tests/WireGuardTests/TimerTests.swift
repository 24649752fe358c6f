import Testing

@testable import WireGuard

@Suite("Timers of two machines on a virtual clock")
struct TimerTests {
    let world: World

    init() throws {
        world = try World(seed: 43)
    }

    @Test("An unanswered initiation is repeated after 5 s and up to 333 ms, 18 times, then the packet is dropped")
    func retransmission() throws {
        var gaps: [Double] = []
        for seed in 0..<8 as Range<UInt64> {
            let world = try World(seed: seed)
            world.filter = { _, isFromLeft in !isFromLeft }
            world.sendLeft(1)
            world.run(seconds: 120)
            let times = world.left.initiationsSent.map(\.seconds)
            #expect(times.count == 19)
            gaps += zip(times.dropFirst(), times).map(-)
            #expect(world.left.staged[world.leftPeer] == nil)
            #expect(world.left.device.nextTimeout != nil)
            world.run(seconds: 600)
            #expect(world.left.initiationsSent.count == 19)
            #expect(world.left.device.nextTimeout == nil)
        }
        #expect(gaps.allSatisfy { $0 >= 5 && $0 <= 5.334 })
        #expect((gaps.max() ?? 0) - (gaps.min() ?? 0) > 0.25)
    }

    @Test("Data that nothing answers gets one keepalive after 10 s; keepalives get none")
    func passiveKeepalive() {
        world.sendLeft(1)
        world.run(seconds: 1)
        let before = (world.left.keepalivesSent, world.right.keepalivesSent)
        world.sendLeft(2)
        world.run(seconds: 8.5)
        #expect(world.right.keepalivesSent == before.1)
        world.run(seconds: 2)
        #expect(world.right.keepalivesSent == before.1 + 1)
        world.run(seconds: 100)
        #expect(world.right.keepalivesSent == before.1 + 1)
        #expect(world.left.keepalivesSent == before.0)
    }

    @Test("A one-way stream gets a keepalive every ten seconds and keeps its session")
    func oneWayStream() {
        for id in 0..<100 as Range<UInt32> {
            world.sendLeft(id)
            world.run(seconds: 1)
        }
        #expect(world.right.keepalivesSent >= 8 && world.right.keepalivesSent <= 10)
        #expect(world.left.initiationsSent.count == 1)
    }

    @Test("Persistent keepalives go out every interval on an idle tunnel")
    func persistentKeepalive() {
        world.left.device.setKeepaliveInterval(25, of: world.leftPeer, now: world.now)
        world.left.service(world.now)
        world.run(seconds: 1)
        #expect(world.left.initiationsSent.count == 1)
        let before = world.left.keepalivesSent
        world.run(seconds: 1000)
        let count = world.left.keepalivesSent - before
        // Forty intervals; each renewal of the session sends one of its own and pushes the next one.
        #expect(count >= 38 && count <= 48)
        #expect(world.left.delivered.isEmpty && world.right.delivered.isEmpty)
        #expect(world.right.keepalivesSent == 0)
    }

    @Test("Any authenticated traffic pushes the persistent keepalive, in both directions")
    func persistentKeepaliveIsPushed() {
        world.left.device.setKeepaliveInterval(5, of: world.leftPeer, now: world.now)
        world.left.service(world.now)
        world.run(seconds: 1)
        let before = world.left.keepalivesSent
        for id in 0..<10 as Range<UInt32> {
            world.sendLeft(id)
            world.run(seconds: 2)
            world.sendRight(id)
            world.run(seconds: 2)
        }
        #expect(world.left.keepalivesSent == before)
        world.left.device.setKeepaliveInterval(0, of: world.leftPeer, now: world.now)
        world.left.service(world.now)
        world.run(seconds: 100)
        #expect(world.left.keepalivesSent <= before + 1)
    }

    @Test("An unreachable peer with a persistent keepalive is tried for ever, at most once per 5 s")
    func persistentKeepaliveOfUnreachablePeer() {
        world.filter = { _, _ in false }
        world.left.device.setKeepaliveInterval(1, of: world.leftPeer, now: world.now)
        world.left.service(world.now)
        world.run(seconds: 1000)
        let times = world.left.initiationsSent.map(\.seconds)
        #expect(times.count >= 150 && times.count <= 201)
        #expect(zip(times.dropFirst(), times).map(-).allSatisfy { $0 >= 5 })
    }

    @Test("Data sent into silence starts a new handshake after 15 s and up to 333 ms")
    func silence() throws {
        var waits: Set<Double> = []
        for seed in 0..<8 as Range<UInt64> {
            let world = try World(seed: seed)
            world.sendLeft(1)
            world.run(seconds: 20)
            world.filter = { _, isFromLeft in isFromLeft }
            let sentAt = world.now.seconds
            world.sendLeft(2)
            world.run(seconds: 16)
            let times = world.left.initiationsSent
            #expect(times.count == 2)
            let wait = try #require(times.last).seconds - sentAt
            #expect(wait >= 15 && wait <= 15.334)
            waits.insert(wait)
        }
        #expect(waits.count > 4)
    }

    @Test("Under load a cookie is demanded, and the retry that carries it is answered")
    func cookieUnderLoad() {
        world.right.device.noteQueue(depth: 31, capacity: 256, now: world.now)
        #expect(world.right.device.isUnderLoad(at: world.now) == false)
        for step in 0..<20 as Range<UInt64> {
            world.right.device.noteQueue(
                depth: 32, capacity: 256, now: world.now + .milliseconds(step * 500))
        }
        world.sendLeft(1)
        world.run(seconds: 1)
        #expect(world.right.device.drops[.cookieRequired] == 1)
        #expect(!world.rightGot(1))
        world.run(seconds: 6)
        #expect(world.rightGot(1))
        #expect(world.left.initiationsSent.count == 2)
        world.run(seconds: 10)
        #expect(world.right.device.isUnderLoad(at: world.now) == false)
    }

    @Test("A session ends at 180 s: it neither seals nor opens")
    func rejection() {
        world.sendLeft(1)
        world.run(seconds: 1)
        world.filter = { bytes, _ in MessageKind(bytes) == .data }
        world.run(seconds: 178)
        world.sendLeft(2)
        world.run(seconds: 0.5)
        #expect(world.rightGot(2))
        world.run(seconds: 2)
        world.sendLeft(3)
        world.run(seconds: 1)
        #expect(!world.rightGot(3))
        let session = world.right.transport.peers[world.rightPeer.slot].current
        let index = world.right.transport.sessions[session].keys.localIndex
        guard case .drop(.sessionExpired) = world.right.transport.beginOpen(receiverIndex: index, now: world.now) else {
            Issue.record("an old session must not open")
            return
        }
    }
}
