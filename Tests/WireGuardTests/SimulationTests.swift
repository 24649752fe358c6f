import Testing

@testable import WireGuard

@Suite("Two machines under loss, reordering and duplication")
struct SimulationTests {
    /// Seeds in all; each is one short conversation.
    static let seeds: UInt64 = 10_000
    static let groups: UInt64 = 20

    @Test("No nonce is reused, no replay is delivered, and the session recovers when loss ends", arguments: 0..<groups)
    func conversations(group: UInt64) throws {
        let count = Self.seeds / Self.groups
        for seed in group * count..<(group + 1) * count {
            try converse(seed)
        }
    }

    private func converse(_ seed: UInt64) throws {
        let world = try World(seed: seed &+ 1_000_000)
        world.loss = [0, 100, 300, 600, 900][Int(seed % 5)]
        world.duplication = [0, 200, 500][Int(seed % 3)]
        world.delay = .milliseconds([1, 50, 400, 3000][Int(seed % 4)])
        var id: UInt32 = 0
        for _ in 0..<8 {
            for _ in 0...world.random.below(3) {
                id += 1
                if world.random.chance(500) { world.sendLeft(id) } else { world.sendRight(id) }
            }
            // Mostly short pauses, now and then one that outlives a session.
            world.run(seconds: world.random.chance(60) ? 185 : Double(world.random.below(4000)) / 1000)
        }
        world.loss = 0
        world.delay = .milliseconds(10)
        world.run(seconds: 6)
        world.sendLeft(900_001)
        world.sendRight(900_002)
        // A handshake may just have been lost: one retry, with its jitter, must do.
        world.run(seconds: 12)
        world.sendLeft(900_003)
        world.sendRight(900_004)
        world.run(seconds: 7)
        #expect(world.rightGot(900_003) && world.leftGot(900_004), "seed \(seed) did not recover")
        for machine in [world.left, world.right] {
            #expect(machine.reusedNonces == 0, "seed \(seed) reused a nonce")
            #expect(Set(machine.delivered).count == machine.delivered.count, "seed \(seed) delivered a replay")
            #expect(machine.transport.sessionCount <= 4, "seed \(seed) leaks sessions")
        }
    }
}
