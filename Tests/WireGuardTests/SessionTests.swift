import Testing

@testable import WireGuard

@Suite("Sessions of two machines on a virtual clock")
struct SessionTests {
    let world: World

    init() throws {
        world = try World(seed: 42)
    }

    @Test("The first packet starts the handshake and arrives; transfer counters are exact")
    func firstPacket() throws {
        for id in 0..<10 as Range<UInt32> {
            world.sendLeft(id)
            world.run(seconds: 0.1)
            world.sendRight(id)
            world.run(seconds: 0.1)
        }
        #expect(world.left.delivered.count == 10 && world.right.delivered.count == 10)
        let left = try #require(world.left.traffic(of: world.leftPeer))
        let right = try #require(world.right.traffic(of: world.rightPeer))
        #expect(left.sentBytes == 148 + 10 * 64 && left.receivedBytes == 92 + 10 * 64)
        #expect(right.sentBytes == 92 + 10 * 64 && right.receivedBytes == 148 + 10 * 64)
        #expect(world.left.initiationsSent.count == 1 && world.right.initiationsSent.isEmpty)
        #expect(world.left.device.description(of: world.leftPeer)?.lastHandshake != nil)
        #expect(world.right.device.description(of: world.rightPeer)?.lastHandshake != nil)
    }

    @Test("Staged packets are flushed in order on both sides")
    func stagedOrder() {
        for id in 0..<20 as Range<UInt32> {
            world.sendLeft(id)
            world.sendRight(100 + id)
        }
        world.delay = .milliseconds(0)
        world.run(seconds: 8)
        let wanted = (0..<20).map { World.packet(from: World.leftAddress, to: World.rightAddress, id: $0) }
        #expect(world.right.delivered == wanted)
        #expect(world.left.delivered.count == 20)
    }

    @Test("Both begin at once: both packets arrive without a second handshake", arguments: 0..<40)
    func simultaneous(seed: UInt64) throws {
        let world = try World(seed: seed)
        world.sendLeft(1)
        world.sendRight(2)
        world.run(seconds: 1)
        #expect(world.rightGot(1) && world.leftGot(2))
        for id in 10..<30 as Range<UInt32> {
            world.sendLeft(id)
            world.sendRight(id)
            world.run(seconds: 0.5)
        }
        #expect(world.left.delivered.count == 21 && world.right.delivered.count == 21)
        #expect(world.left.initiationsSent.count == 1 && world.right.initiationsSent.count == 1)
    }

    @Test("The initiator, and only it, renews the session at 120 s; no packet is lost meanwhile")
    func renewal() {
        // One side begins, so that there is one initiator.
        world.sendLeft(1000)
        world.run(seconds: 1)
        for id in 0..<500 as Range<UInt32> {
            world.sendLeft(id)
            world.sendRight(id)
            world.run(seconds: 1)
        }
        #expect(world.left.delivered.count == 500 && world.right.delivered.count == 501)
        #expect(world.right.initiationsSent.isEmpty)
        #expect((4...6).contains(world.left.initiationsSent.count))
        #expect(world.left.reusedNonces == 0 && world.right.reusedNonces == 0)
        // At most the current, the previous, an older and the next session are kept.
        #expect(world.left.transport.sessionCount <= 4)
    }

    @Test(
        "Renewal under continuous traffic both ways drops no packet, also when both renew at once",
        arguments: [false, true], 0..<6)
    func renewalUnderTraffic(bothBegin: Bool, seed: UInt64) throws {
        let world = try World(seed: seed)
        world.delay = .milliseconds(60)
        var id: UInt32 = 0
        func exchange(seconds: Double, every gap: Double) {
            for _ in 0..<Int(seconds / gap) {
                id += 1
                world.sendLeft(id)
                world.sendRight(id)
                world.run(seconds: gap)
            }
        }
        exchange(seconds: 6, every: 1)
        for _ in 0..<4 {
            if bothBegin {
                // Both ends have used their session up to REKEY_AFTER_MESSAGES: their handshakes cross.
                world.run(seconds: 0.2)
                for (machine, peer) in [(world.left, world.leftPeer), (world.right, world.rightPeer)] {
                    let session = machine.transport.peers[peer.slot].current
                    machine.transport.sessions[session].sendCounter = Limits.rekeyAfterMessages
                }
            } else {
                exchange(seconds: 118, every: 1)
            }
            exchange(seconds: 6, every: 0.004)
        }
        world.run(seconds: 0.2)
        #expect(world.right.delivered.count == Int(id) && world.left.delivered.count == Int(id))
        #expect(world.left.drops.total == 0 && world.right.drops.total == 0)
        let initiations = (world.left.initiationsSent.count, world.right.initiationsSent.count)
        #expect(bothBegin ? min(initiations.0, initiations.1) >= 4 : initiations.0 + initiations.1 >= 4)
    }

    @Test("A packet right after the last attempt of a handshake starts the next one")
    func wishAfterGivingUp() {
        world.filter = { _, _ in false }
        world.sendLeft(1)
        while world.left.staged[world.leftPeer] != nil, world.now.seconds < 1200 { world.run(seconds: 0.01) }
        #expect(world.left.initiationsSent.count == 19)
        world.filter = { _, _ in true }
        world.sendLeft(2000)
        world.run(seconds: 0.1)
        #expect(world.rightGot(2000))
    }

    @Test("A wish within five seconds of the last message is kept until it may be sent")
    func wishIsScheduled() {
        world.sendLeft(1)
        world.run(seconds: 1)
        let session = world.left.transport.peers[world.leftPeer.slot].current
        world.left.transport.sessions[session].sendCounter = Limits.rejectAfterMessages
        world.sendLeft(2)
        world.run(seconds: 3.5)
        #expect(world.left.initiationsSent.count == 1)
        world.run(seconds: 1)
        #expect(world.left.initiationsSent.count == 2 && world.rightGot(2))
    }

    @Test("A quiet tunnel of 130 s carries the next packet at once and renews its session")
    func idleOverRenewal() {
        world.sendLeft(1)
        world.run(seconds: 130)
        world.sendLeft(2)
        world.run(seconds: 0.05)
        #expect(world.rightGot(2))
        world.run(seconds: 1)
        #expect(world.left.initiationsSent.count == 2)
        world.run(seconds: 60)
        world.sendRight(3)
        world.run(seconds: 0.05)
        #expect(world.leftGot(3))
    }

    @Test("A passive receiver that began the session renews it at 165 s, once")
    func renewalOnReceive() {
        world.sendLeft(1)
        world.run(seconds: 1)
        for id in 0..<173 as Range<UInt32> {
            world.sendRight(id)
            world.run(seconds: 1)
        }
        // The left side sent keepalives after 120 s, which renew the session already.
        #expect(world.left.initiationsSent.count >= 2)
        #expect(world.left.delivered.count == 173)
    }

    @Test("An idle tunnel asks for nothing until its keys are wiped at 540 s")
    func idleIsQuiet() {
        world.sendLeft(1)
        world.run(seconds: 30)
        let sent = world.sent
        let wakeups = world.left.wakeups + world.right.wakeups
        #expect(world.left.device.nextTimeout.map { $0.seconds > 1530 } == true)
        world.run(seconds: 500)
        #expect(world.sent == sent)
        #expect(world.left.wakeups + world.right.wakeups == wakeups)
        #expect(world.left.transport.sessionCount == 1)
        world.run(seconds: 20)
        #expect(world.left.transport.sessionCount == 0 && world.right.transport.sessionCount == 0)
        #expect(world.left.device.nextTimeout == nil && world.right.device.nextTimeout == nil)
        world.sendLeft(2)
        world.run(seconds: 1)
        #expect(world.rightGot(2))
    }

    @Test("Traffic both ways wakes control a few times a minute, not per packet")
    func wakeupsAreRare() {
        for id in 0..<6000 as Range<UInt32> {
            world.sendLeft(id)
            world.sendRight(id)
            world.run(seconds: 0.01)
        }
        #expect(world.left.wakeups <= 15 && world.right.wakeups <= 15)
        #expect(world.right.delivered.count == 6000)
    }

    @Test(
        "A machine that slept goes on with the next packet, whether that or the timers are first",
        arguments: [5.0, 130, 200, 3600], [true, false])
    func sleep(duration: Double, timersFirst: Bool) {
        world.delay = .milliseconds(0)
        world.sendLeft(1000)
        world.run(seconds: 1)
        for id in 0..<5 as Range<UInt32> {
            world.sendLeft(id)
            world.sendRight(id)
            world.run(seconds: 1)
        }
        // The clock jumps; no timer was served meanwhile.
        world.now = world.now + TimeSpan(nanoseconds: UInt64(duration * 1e9))
        let before = world.sent
        if timersFirst {
            world.left.service(world.now)
            world.right.service(world.now)
            world.collect()
            #expect(world.sent - before <= 4)
        }
        world.sendLeft(100)
        world.sendRight(101)
        world.run(seconds: 1)
        #expect(world.rightGot(100))
        #expect(world.leftGot(101))
        #expect(world.left.initiationsSent.count + world.right.initiationsSent.count <= 4)
    }

    @Test("After REJECT_AFTER_MESSAGES no packet is sealed, and a new session is asked for")
    func messageLimit() throws {
        world.sendLeft(1)
        world.run(seconds: 6)
        let session = world.left.transport.peers[world.leftPeer.slot].current
        world.left.transport.sessions[session].sendCounter = Limits.rejectAfterMessages - 5
        func begin(_ packets: Int) -> SealOutcome {
            world.left.transport.beginSeal(
                to: world.leftPeer, packets: packets, bytes: 64 * packets, kind: .data, now: world.now)
        }
        guard case .noSession = begin(6) else {
            Issue.record("six counters must not be granted when five are left")
            return
        }
        guard case .seal(let grant) = begin(5) else {
            Issue.record("five counters are left")
            return
        }
        #expect(grant.firstCounter == Limits.rejectAfterMessages - 5)
        guard case .noSession = begin(1) else {
            Issue.record("the session is used up")
            return
        }
        world.sendLeft(2)
        world.run(seconds: 1)
        #expect(world.rightGot(2))
        #expect(world.left.initiationsSent.count == 2)
    }

    @Test("After REKEY_AFTER_MESSAGES the session is renewed, by the responder too")
    func messageRenewal() {
        world.sendLeft(1)
        world.run(seconds: 6)
        let session = world.right.transport.peers[world.rightPeer.slot].current
        world.right.transport.sessions[session].sendCounter = Limits.rekeyAfterMessages
        world.sendRight(2)
        world.run(seconds: 1)
        #expect(world.leftGot(2))
        #expect(world.right.initiationsSent.count == 1)
    }

    @Test("A session that goes between begin and finish is noticed")
    func sessionGoesMeanwhile() throws {
        world.sendLeft(1)
        world.run(seconds: 1)
        let session = world.right.transport.peers[world.rightPeer.slot].current
        let index = world.right.transport.sessions[session].keys.localIndex
        guard case .open(let grant) = world.right.transport.beginOpen(receiverIndex: index, now: world.now) else {
            Issue.record("the session is there")
            return
        }
        world.right.device.removePeer(world.rightPeer)
        world.right.drain(world.now)
        let verdict = world.right.transport.accept(grant.session, counter: 77)
        #expect(verdict == .sessionExpired)
        var totals = OpenTotals()
        totals.add(datagram: 64)
        let flush = world.right.transport.finishOpen(
            grant.session, totals, from: world.left.address, now: world.now)
        #expect(!flush)
        guard case .drop(.unknownIndex) = world.right.transport.beginOpen(receiverIndex: index, now: world.now) else {
            Issue.record("the index is gone")
            return
        }
    }
}
