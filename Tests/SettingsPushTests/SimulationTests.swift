import Testing
import WireGuard

@testable import SettingsPush

@Suite("Client and gateway over a bad network")
struct SimulationTests {
    static let seeds: UInt64 = 10_000
    static let groups: UInt64 = 20

    @Test("never go back, never apply two at a time, and agree when the network is good again", arguments: 0..<groups)
    func conversations(group: UInt64) throws {
        let count = Self.seeds / Self.groups
        let contents = try [0, 1, 2, 5, 20, 230].map { try Examples.snapshot(routes: $0).canonicalBytes }
        let ceiling = try Examples.prefixes("0.0.0.0/0", "::/0")
        for seed in group * count..<(group + 1) * count {
            _ = try converse(seed, contents, ceiling)
        }
    }

    func converse(_ seed: UInt64, _ contents: [[UInt8]], _ ceiling: [IPPrefix]) throws -> PushWorld {
        var policy = PushPolicy()
        policy.source = seed.isMultiple(of: 3) ? .push : .pushPreferred
        policy.onLeaseExpiry = seed.isMultiple(of: 7) ? .withdraw : .keep
        let world = PushWorld(policy: policy, context: PolicyContext(ceiling: ceiling), seed: seed)
        world.registry.lease = [.permanent, LeaseDuration(seconds: 60), .standard][Int(seed % 3)]
        world.loss = [0, 100, 300, 600, 950][Int(seed % 5)]
        world.duplication = [0, 300, 900][Int(seed / 5 % 3)]
        world.delay = .milliseconds([1, 100, 800, 5000][Int(seed / 15 % 4)])
        world.applyFailure = [0, 0, 200, 700][Int(seed / 60 % 4)]
        world.applyTime = .milliseconds([1, 300, 4000][Int(seed / 240 % 3)])
        if seed % 11 != 0 { world.publish(contents[Int(world.random.below(6))]) }
        world.start()
        for _ in 0..<8 {
            disturb(world, contents)
            world.run(seconds: world.random.below(20) == 0 ? 120 : Double(world.random.below(6000)) / 1000)
        }
        world.loss = 0
        world.duplication = 0
        world.applyFailure = 0
        world.delay = .milliseconds(10)
        world.publish(contents[Int(world.random.below(6))])
        // The longest rest is ten minutes, and a silent peer is asked at its next handshake.
        for _ in 0..<8 {
            world.run(seconds: 120)
            world.sessionUp()
        }
        world.run(seconds: 30)
        #expect(world.breaches.isEmpty, "seed \(seed): \(world.breaches)")
        #expect(world.host.version == world.registry.current?.version, "seed \(seed) does not agree")
        #expect(world.client.confirmed == world.host, "seed \(seed) is not confirmed")
        let last = world.actions.last { if case .reasserting = $0 { true } else { false } }
        #expect(last == nil || last == .reasserting(false), "seed \(seed) still reasserts")
        return world
    }

    private func disturb(_ world: PushWorld, _ contents: [[UInt8]]) {
        switch world.random.below(9) {
        case 0...3: world.publish(contents[Int(world.random.below(6))])
        case 4:
            world.registry.beginEpoch(UInt128(world.random.next()))
            world.restartGateway()
        case 5: world.clientAhead = world.clientAhead + .seconds(world.random.below(7200))
        case 6: world.clientBehind = world.clientBehind + .seconds(world.random.below(900))
        case 7: world.client.sessionLost(now: world.clientNow)
        default: world.sessionUp()
        }
    }
}
