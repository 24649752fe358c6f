import GatewayRegistry
import ProviderKit
import SettingsPush
import Testing
import WireGuard
import WireGuardProvider

@testable import GatewayProvider

@Suite("Control plane of a gateway")
struct GatewayPlaneTests {
    @Test("At the start the tunnel gets every peer that is served, with its own addresses")
    func start() throws {
        let scratch = try Scratch(peers: "alice", "bob")
        let contents = try scratch.change { try $0.setState(.disabled, of: "bob") }
        let bench = PlaneBench(contents)
        bench.plane.start(now: second(1))
        let outputs = bench.outputs()
        guard outputs.count == 1, case .change(let settings) = outputs[0] else {
            Issue.record("\(outputs.count) outputs")
            return
        }
        #expect(settings.privateKey == .keep && !settings.replacesPeers)
        let peer = try #require(settings.peers.first)
        #expect(settings.peers.count == 1 && peer.publicKey == publicKey("alice"))
        #expect(peer.presharedKey == PresharedKey(key("psk alice")))
        #expect(peer.allowedIPs.map(\.prefix.address) == contents.held("alice"))
        #expect(peer.allowedIPs.allSatisfy { $0.prefix.length == $0.prefix.address.bitWidth })
        #expect(bench.networks.isEmpty, "the tunnel started with them")
    }

    @Test("A HELLO is answered with the snapshot under its serial, and renews the lease")
    func hello() throws {
        let contents = try Scratch(peers: "alice").contents()
        let bench = PlaneBench(contents)
        bench.plane.start(now: second(1))
        _ = bench.outputs()
        let answer = try bench.hello(from: "alice", at: second(2))
        let published = try contents.publishedSnapshot(of: "alice")
        #expect(
            answer
                == .offer(
                    published.version, byteCount: UInt32(published.bytes.count), lease: .standard,
                    inline: published.bytes))
        #expect(bench.notes.leases["alice"] == .heard(at: 1000))
        #expect(
            try bench.hello(from: "alice", holding: published.version, at: second(3))
                == .unchanged(published.version, lease: .standard))
    }

    @Test("Who is no peer, or is not served, is offered nothing")
    func strangers() throws {
        let scratch = try Scratch(peers: "alice")
        let bench = PlaneBench(try scratch.change { try $0.setState(.disabled, of: "alice") })
        bench.plane.start(now: second(1))
        #expect(try bench.hello(from: "alice", at: second(2)) == .refused(.staleVersion))
        #expect(try bench.hello(from: "mallory", at: second(2)) == .refused(.staleVersion))
        #expect(bench.notes.leases.isEmpty)
        #expect(bench.notes.results["alice"]?.status == .rejected && bench.notes.results.count == 1)
    }

    @Test("A route that an operator adds is announced to the peers that are there, 250 ms later")
    func announced() throws {
        let scratch = try Scratch(peers: "alice", "bob")
        let bench = PlaneBench(try scratch.contents())
        bench.plane.start(now: second(1))
        bench.plane.sessionUp(publicKey("alice"), now: second(1))
        _ = try bench.hello(from: "alice", at: second(2))
        let changed = try scratch.change { try $0.addRoute(IPPrefix.strict("10.20.0.0/16"), .included, for: .gateway) }
        bench.wake(changed, at: second(3))
        #expect(bench.outputs().isEmpty && bench.networks.isEmpty)
        let due = second(3) + .milliseconds(250)
        #expect(bench.plane.nextTimeout == due)
        bench.plane.handleTimeout(now: due)
        let version = try changed.publishedSnapshot(of: "alice").version
        #expect(try bench.messages() == [.notify(version)], "bob is not there")
        bench.plane.sessionUp(publicKey("bob"), now: second(4))
        #expect(bench.plane.nextTimeout == second(4))
        bench.plane.handleTimeout(now: second(4))
        #expect(try bench.messages() == [.notify(try changed.publishedSnapshot(of: "bob").version)])
    }

    @Test("Peers come and go in the running tunnel; the network follows pools and site subnets")
    func peersAndPools() throws {
        let scratch = try Scratch(peers: "alice")
        let bench = PlaneBench(try scratch.contents())
        bench.plane.start(now: second(1))
        _ = bench.outputs()
        bench.wake(try scratch.change { try $0.add("site", subnets: "192.168.4.0/24") }, at: second(2))
        let added = bench.changes()
        #expect(added.map(\.publicKey) == [publicKey("site")] && added.first?.isRemoved == false)
        #expect(added.first?.allowedIPs.last.map { "\($0.prefix)" } == "192.168.4.0/24")
        #expect(bench.networks.count == 1)
        let route = IPv4Route(destinationAddress: "192.168.4.0", subnetMask: "255.255.255.0")
        #expect(bench.networks.last?.ipv4Settings?.includedRoutes?.contains(route) == true)

        bench.wake(
            try scratch.change {
                var generator = SystemRandomNumberGenerator()
                try $0.removePeer("site")
                try $0.addPool(IPPrefix.strict("10.8.0.0/24"), now: 1000, random: &generator)
            }, at: second(3))
        let removed = bench.changes()
        #expect(removed.map(\.publicKey) == [publicKey("site")] && removed.allSatisfy(\.isRemoved))
        let ipv4 = try #require(bench.networks.last?.ipv4Settings)
        #expect(ipv4.addresses == ["10.7.0.1", "10.8.0.1"])
        #expect(ipv4.subnetMasks == ["255.255.255.0", "255.255.255.0"])
        #expect(ipv4.includedRoutes?.contains(route) == false)
        #expect(bench.networks.last?.ipv6Settings?.addresses == ["fd07::1"])
        bench.wake(try scratch.contents(), at: second(4))
        #expect(bench.outputs().isEmpty && bench.networks.count == 2, "nothing changed")
    }

    @Test("A peer that is to be drained is asked to use another gateway, and again when it is back")
    func draining() throws {
        let scratch = try Scratch(peers: "alice")
        let bench = PlaneBench(try scratch.contents())
        bench.plane.start(now: second(1))
        bench.plane.sessionUp(publicKey("alice"), now: second(1))
        _ = bench.outputs()
        bench.wake(try scratch.change { try $0.setState(.draining, of: "alice") }, at: second(2))
        let order = Message.Body.goAway(GoAway(action: .useAnother, delaySeconds: 0))
        #expect(try bench.messages() == [order])
        bench.plane.sessionLost(publicKey("alice"), now: second(3))
        bench.plane.sessionUp(publicKey("alice"), now: second(9))
        #expect(try bench.messages() == [order])
    }

    @Test("Results are acknowledged, kept and logged; a release gives the lease back until the next HELLO")
    func results() throws {
        let contents = try Scratch(peers: "alice").contents()
        let bench = PlaneBench(contents)
        bench.plane.start(now: second(1))
        _ = bench.outputs()
        let version = try contents.publishedSnapshot(of: "alice").version
        let finding = SettingsFinding(section: 2, index: 1, reason: .defaultRoute)
        let result = SettingsResult(version: version, status: .filtered, findings: [finding])
        bench.plane.handleMessage(
            Message(transaction: 3, body: .result(result)).bytes, from: publicKey("alice"), now: second(2))
        #expect(try bench.messages() == [.resultAcknowledgement(version)])
        #expect(bench.notes.results["alice"]?.findings == [finding])
        #expect(bench.log.contains { $0.contains("alice") && $0.contains("filtered") })
        bench.plane.handleMessage(
            Message(transaction: 4, body: .release).bytes, from: publicKey("alice"), now: second(3))
        #expect(try bench.messages() == [.releaseAcknowledgement])
        #expect(bench.notes.leases["alice"] == .released(at: 1000))
        _ = try bench.hello(from: "alice", at: second(4))
        #expect(bench.notes.leases["alice"] == .heard(at: 1000))
    }

    @Test("A peer without an address is told to wait, then that there is none; with one it is served")
    func exhausted() throws {
        let scratch = try Scratch(lease: 60, pools: ["10.7.0.0/30"], peers: "alice")
        let full = try scratch.contents()
        var contents = full
        var generator = SystemRandomNumberGenerator()
        try contents.renew("alice", now: 1000, random: &generator)
        contents.release("alice", now: 1001)
        let bench = PlaneBench(contents)
        bench.plane.start(now: second(1))
        for _ in 0..<3 {
            #expect(try bench.hello(from: "alice", at: second(2)) == .busy(retryAfterSeconds: 1))
        }
        #expect(bench.notes.areUrgent)
        #expect(try bench.hello(from: "alice", at: second(5)) == .poolExhausted(retryAfterSeconds: 60))
        bench.wake(full, at: second(6))
        #expect(bench.changes().first?.allowedIPs.count == 1)
        guard case .offer = try bench.hello(from: "alice", at: second(7)) else {
            Issue.record("an address does not help")
            return
        }
    }
}
