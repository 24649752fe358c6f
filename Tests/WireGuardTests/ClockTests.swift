import Testing

@testable import WireGuard

@Suite("Wall clocks that jump")
struct ClockTests {
    let world: World
    private static let jumps: [Int64] = [1, -1, 3600, -3600, 315_569_520, -315_569_520]

    init() throws {
        world = try World(seed: 71)
        world.delay = .milliseconds(5)
    }

    /// Sends a packet each way and requires that both arrive.
    private func exchange(_ id: UInt32, seconds: Double = 1) {
        world.sendLeft(id)
        world.sendRight(id)
        world.run(seconds: seconds)
        #expect(world.rightGot(id) && world.leftGot(id), "packet \(id)")
    }

    @Test("A live session does not notice a jump, and its renewal is answered", arguments: jumps, [true, false])
    func liveSession(jump: Int64, atInitiator: Bool) {
        exchange(1)
        (atInitiator ? world.left : world.right).clockError = jump
        let before = world.left.initiationsSent.count + world.right.initiationsSent.count
        for id in 2..<12 as Range<UInt32> { exchange(id) }
        #expect(world.left.initiationsSent.count + world.right.initiationsSent.count == before)
        // Over three renewals; one that is refused would be repeated every five seconds.
        for id in 12..<52 as Range<UInt32> { exchange(id, seconds: 10) }
        #expect(world.left.initiationsSent.count + world.right.initiationsSent.count <= before + 6)
        // And the clock comes back.
        world.left.clockError = 0
        world.right.clockError = 0
        for id in 52..<92 as Range<UInt32> { exchange(id, seconds: 10) }
        #expect(world.left.initiationsSent.count + world.right.initiationsSent.count <= before + 12)
        for machine in [world.left, world.right] { #expect(machine.device.drops[.replayedInitiation] == 0) }
    }

    @Test("A restart with a clock that went back is answered, thanks to what was stored", arguments: jumps)
    func restart(jump: Int64) throws {
        exchange(1)
        let stored = world.left.device.timestamps.takeUnstored()
        let rightKey = try #require(world.right.publicKey)
        world.run(seconds: 30)
        world.left.clockError = jump
        world.left.restart(
            try #require(stored),
            with: [(rightKey, world.right.address, try prefixes("10.0.0.2/32", "fd00::2/128"))], now: world.now)
        world.sendLeft(2)
        world.run(seconds: 1)
        #expect(world.rightGot(2))
        #expect(world.right.device.drops[.replayedInitiation] == 0)
    }

    @Test("A peer whose clock was ten years ahead is answered when it has lost what it stored")
    func repairedPeer() throws {
        world.left.clockError = 315_569_520
        exchange(1)
        let captured = world.right.device.drops.total
        let rightKey = try #require(world.right.publicKey)
        world.left.clockError = 0
        world.run(seconds: 30)
        world.left.restart(
            .zero, with: [(rightKey, world.right.address, try prefixes("10.0.0.2/32", "fd00::2/128"))], now: world.now)
        world.sendLeft(2)
        world.run(seconds: 1)
        #expect(world.rightGot(2) && world.right.device.drops.total == captured)
    }

    @Test("An initiation with a stamp of the future is not taken twice, before nor after its sender's repair")
    func replayFromTheFuture() throws {
        var initiations: [[UInt8]] = []
        world.filter = { bytes, isFromLeft in
            if isFromLeft, MessageKind(bytes) == .initiation { initiations.append(bytes) }
            return true
        }
        world.left.clockError = 315_569_520
        exchange(1)
        world.right.receive(try #require(initiations.first), from: world.left.address, now: world.now)
        #expect(world.right.device.drops[.replayedInitiation] == 1)
        let rightKey = try #require(world.right.publicKey)
        world.left.clockError = 0
        world.left.restart(
            .zero, with: [(rightKey, world.right.address, try prefixes("10.0.0.2/32", "fd00::2/128"))], now: world.now)
        world.sendLeft(2)
        world.run(seconds: 1)
        #expect(world.rightGot(2))
        for initiation in initiations { world.right.receive(initiation, from: world.left.address, now: world.now) }
        #expect(initiations.count == 2 && world.right.device.drops[.replayedInitiation] == 3)
    }
}
