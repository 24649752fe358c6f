import Testing
import WireGuard

@testable import SettingsPush

@Suite("A client")
struct ClientTests {
    private func world(
        _ source: SettingsSource, seed: UInt64 = 1, _ adjust: (inout PushPolicy) -> Void = { _ in }
    ) throws -> PushWorld {
        var policy = PushPolicy()
        policy.source = source
        adjust(&policy)
        let context = PolicyContext(ceiling: try Examples.prefixes("0.0.0.0/0", "::/0"))
        return PushWorld(policy: policy, context: context, seed: seed)
    }

    @Test("is up after one round trip where the snapshot fits into the answer")
    func inline() throws {
        let world = try world(.pushRequired)
        let snapshot = try Examples.snapshot()
        world.publish(snapshot.canonicalBytes)
        world.start()
        world.run(seconds: 0.2)
        #expect(world.actions.contains(.startCompleted))
        #expect(world.client.confirmed.version == world.registry.current?.version)
        #expect(world.results.map(\.status) == [.applied])
        let sent = world.actions.count { if case .send = $0 { true } else { false } }
        #expect(sent == 2, "HELLO and RESULT")
    }

    @Test("fetches a larger one in blocks, and smaller blocks where large ones are lost")
    func blocks() throws {
        let world = try world(.pushRequired) { $0.maxRoutes = 16_384 }
        world.publish(try Examples.snapshot(routes: 2000).canonicalBytes)
        world.filter = { message, _ in
            if case .block(let block) = message.body { block.bytes.count <= 448 } else { true }
        }
        world.start()
        world.run(seconds: 12)
        #expect(world.host.version == world.registry.current?.version)
        #expect(world.actions.contains(.startCompleted))
    }

    @Test("takes settings of the profile after 3 seconds of silence, and the gateway's as soon as it answers")
    func preferred() throws {
        let world = try world(.pushPreferred)
        world.publish(try Examples.snapshot().canonicalBytes)
        world.loss = 1000
        world.start()
        world.run(seconds: 2.9)
        #expect(!world.actions.contains(.startCompleted))
        world.run(seconds: 0.2)
        #expect(world.actions.contains(.startCompleted))
        #expect(world.host == .profile)
        world.loss = 0
        world.run(seconds: 30)
        #expect(world.client.confirmed.version == world.registry.current?.version)
        #expect(world.actions.filter { $0 == .reasserting(true) }.count == 1, "while they are applied")
        #expect(world.actions.filter { $0 == .reasserting(false) }.count == 1)
    }

    @Test("does not start after 15 seconds where the gateway is required")
    func required() throws {
        let world = try world(.pushRequired)
        world.start()
        world.loss = 1000
        world.run(seconds: 14.9)
        #expect(!world.actions.contains(.startFailed(.noAnswer)))
        world.run(seconds: 1)
        #expect(world.actions.contains(.startFailed(.noAnswer)))
        #expect(world.client.nextTimeout == nil)
    }

    @Test("comes up bare and reasserting where only the gateway decides and is silent")
    func pushOnly() throws {
        let world = try world(.push)
        world.loss = 1000
        world.start()
        world.run(seconds: 16)
        let stages: [ClientAction] = [.startCompleted, .reasserting(true)]
        #expect(world.actions.filter { stages.contains($0) } == stages)
        #expect(world.host == .bare)
        world.loss = 0
        world.publish(try Examples.snapshot().canonicalBytes)
        world.run(seconds: 90)
        world.sessionUp()
        world.run(seconds: 90)
        #expect(world.client.confirmed.version == world.registry.current?.version)
        #expect(world.actions.contains(.reasserting(false)))
    }

    @Test("starts with the profile at once when nobody listens", arguments: [true, false])
    func plainPeer(isUnreachable: Bool) throws {
        let world = try world(.pushPreferred)
        world.filter = { _, _ in false }
        world.start()
        if isUnreachable { world.client.handleUnreachable(now: world.now) }
        world.run(seconds: isUnreachable ? 0.1 : 3.1)
        #expect(world.host == .profile)
        world.run(seconds: 3600)
        let hellos = world.actions.count { if case .send = $0 { true } else { false } }
        #expect(hellos == (isUnreachable ? 1 : 5), "a silent peer is not asked again before its next handshake")
        #expect(world.actions.filter { $0 == .note(.unsupported) }.count == 1)
        world.sessionUp()
        world.run(seconds: 30)
        #expect(world.actions.filter { $0 == .note(.unsupported) }.count == 2)
    }

    @Test("goes back when the gateway is out of reach with new settings")
    func takesBack() throws {
        let world = try world(.pushRequired)
        world.publish(try Examples.snapshot(routes: 1).canonicalBytes)
        world.start()
        world.run(seconds: 1)
        let first = try #require(world.host.version)
        world.publish(try Examples.snapshot(routes: 2).canonicalBytes)
        world.filter = { message, _ in
            if case .result(let result) = message.body { result.status == .reverted } else { true }
        }
        world.run(seconds: 5)
        #expect(world.host.version?.serial == 2)
        world.run(seconds: 8)
        #expect(world.host.version == first)
        #expect(world.results.last?.status == .reverted)
        #expect(world.results.last?.findings == [SettingsFinding(.notConfirmed)])
        world.filter = nil
        world.run(seconds: 120)
        #expect(world.client.confirmed.version?.serial == 2, "tried again after a rest")
        #expect(world.breaches.isEmpty)
    }

    @Test("keeps what is in force when the host cannot apply something new")
    func hostFails() throws {
        let world = try world(.pushRequired)
        world.publish(try Examples.snapshot(routes: 1).canonicalBytes)
        world.start()
        world.run(seconds: 1)
        world.applyFailure = 1000
        world.publish(try Examples.snapshot(routes: 2).canonicalBytes)
        world.run(seconds: 5)
        #expect(world.host.version?.serial == 1)
        #expect(world.results.last?.status == .failed)
    }

    @Test("fetches a change within the time that a gateway promises")
    func changes() throws {
        let world = try world(.pushRequired)
        world.publish(try Examples.snapshot(routes: 1).canonicalBytes)
        world.start()
        world.run(seconds: 5)
        for routes in 2...9 {
            world.publish(try Examples.snapshot(routes: routes).canonicalBytes)
            world.run(seconds: 0.1)
        }
        world.run(seconds: 1.7)
        #expect(world.client.confirmed.version?.serial == 9)
        let serials = world.results.map(\.version.serial)
        #expect(serials == [1, 9], "a row of edits is one change")
    }

    @Test("is held to ten changes a minute, or to as many as the profile says", arguments: [10, 12, 60])
    func rate(perMinute: Int) throws {
        let world = try world(.pushRequired) { $0.maxChangesPerMinute = perMinute }
        world.publish(try Examples.snapshot(routes: 1).canonicalBytes)
        world.start()
        world.run(seconds: 5)
        for routes in 2...20 {
            world.publish(try Examples.snapshot(routes: routes).canonicalBytes)
            world.run(seconds: 2)
        }
        let applies = world.actions.count { if case .apply = $0 { true } else { false } }
        #expect(applies == min(perMinute, 20))
        #expect(world.actions.filter { $0 == .note(.heldBack) }.count == (perMinute < 20 ? 1 : 0))
        world.run(seconds: 60)
        #expect(world.client.confirmed.version?.serial == 20)
    }

    @Test("renews its lease at half, and reasserts with its routes when it ends", arguments: [true, false])
    func lease(keeps: Bool) throws {
        let world = try world(.pushRequired) { $0.onLeaseExpiry = keeps ? .keep : .withdraw }
        world.publish(try Examples.snapshot(routes: 1).canonicalBytes)
        world.start()
        world.run(seconds: 1979)
        #expect(world.registry.offers == 2, "once in the first 55 percent")
        let version = world.host.version
        world.loss = 1000
        world.run(seconds: 3600)
        #expect(world.actions.contains(.note(.leaseExpired)))
        #expect(world.actions.last { if case .reasserting = $0 { true } else { false } } == .reasserting(true))
        #expect(keeps ? world.host.version == version : world.host == .bare)
        world.loss = 0
        world.sessionUp()
        world.run(seconds: 10)
        #expect(world.host.version == version)
        #expect(world.actions.last { if case .reasserting = $0 { true } else { false } } == .reasserting(false))
    }

    @Test("brings back what it is just withdrawing when the gateway answers after all")
    func withdrawal() throws {
        let world = try world(.pushRequired) { $0.onLeaseExpiry = .withdraw }
        world.registry.lease = LeaseDuration(seconds: 60)
        world.publish(try Examples.snapshot(routes: 1).canonicalBytes)
        world.start()
        world.run(seconds: 1)
        let version = try #require(world.host.version)
        world.loss = 1000
        world.applyTime = .seconds(4)
        world.run(seconds: 60)
        #expect(world.actions.contains(.note(.leaseExpired)) && world.host.version == version)
        world.loss = 0
        world.client.handleUnreachable(now: world.now)
        world.deliverToClient(Message(transaction: 1, body: .notify(version)))
        world.run(seconds: 12)
        #expect(world.client.confirmed.version == version)
    }

    @Test("gives its lease back within half a second", arguments: [true, false])
    func release(answers: Bool) throws {
        let world = try world(.pushRequired)
        world.publish(try Examples.snapshot(routes: 1).canonicalBytes)
        world.start()
        world.run(seconds: 1)
        world.filter = { _, isFromClient in isFromClient || answers }
        let begin = world.actions.count
        world.stop()
        world.run(seconds: 0.5)
        #expect(world.actions.last == .released)
        #expect(world.outputs.contains(.released(PushWorld.peer)))
        #expect(world.actions.count - begin == (answers ? 2 : 3), "one or two tries")
    }

    @Test("leaves when it is told to, once")
    func goAway() throws {
        let world = try world(.pushRequired)
        world.publish(try Examples.snapshot(routes: 1).canonicalBytes)
        world.start()
        world.run(seconds: 1)
        world.duplication = 1000
        let order = GoAway(action: .useAnother, delaySeconds: 5)
        world.gateway.sendGoAway(order, to: PushWorld.peer, now: world.now)
        world.run(seconds: 3)
        #expect(world.actions.filter { $0 == .leave(order) }.count == 1)
        #expect(world.outputs.contains(.left(PushWorld.peer)))
    }

    @Test("ignores a lower serial, and fetches an equal one with other content anew")
    func serials() throws {
        let world = try world(.pushRequired)
        for routes in 1...3 { world.registry.publish(try Examples.snapshot(routes: routes).canonicalBytes) }
        world.start()
        world.run(seconds: 1)
        let epoch = world.registry.epoch
        world.registry = Registry(epoch: epoch)
        world.registry.publish(try Examples.snapshot(routes: 9).canonicalBytes)
        world.client.sessionLost(now: world.now)
        world.sessionUp()
        world.run(seconds: 2)
        #expect(world.actions.contains(.note(.staleSerial(1))))
        #expect(world.host.version?.serial == 3)
        world.registry.publish(try Examples.snapshot(routes: 10).canonicalBytes)
        world.registry.publish(try Examples.snapshot(routes: 11).canonicalBytes)
        world.client.sessionLost(now: world.now)
        world.sessionUp()
        world.run(seconds: 2)
        #expect(world.actions.contains(.note(.serialConflict(3))))
        #expect(world.host.version == world.registry.current?.version)
    }

    @Test("takes everything anew from a gateway with another registry")
    func epochs() throws {
        let world = try world(.pushRequired)
        for routes in 1...3 { world.registry.publish(try Examples.snapshot(routes: routes).canonicalBytes) }
        world.start()
        world.run(seconds: 1)
        world.registry.beginEpoch(77)
        world.restartGateway()
        world.client.sessionLost(now: world.now)
        world.sessionUp()
        world.run(seconds: 3)
        #expect(world.client.confirmed.version?.epoch == 77)
        #expect(world.host.version?.serial == 1)
    }

    @Test("filters anew when this machine's networks change")
    func context() throws {
        let world = try world(.pushRequired)
        world.publish(try Examples.snapshot(routes: 2).canonicalBytes)
        world.start()
        world.run(seconds: 2)
        var context = world.client.context
        context.connectedNetworks = [
            .init(interface: "eth0", prefix: try #require(IPPrefix("10.0.1.0/24")))
        ]
        world.client.setContext(context, now: world.now)
        world.run(seconds: 2)
        guard case .pushed(_, let outcome) = world.host else {
            Issue.record("nothing is in force")
            return
        }
        #expect(outcome.settings.routes == (try Examples.prefixes("10.0.0.0/24")))
        #expect(world.results.map(\.status) == [.applied, .filtered])
    }
}
