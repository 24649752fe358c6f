import ProviderKit
import ProviderTestKit
import SettingsPush
import Synchronization
import Testing
import WireGuard

@testable import WireGuardProvider

/// A client on the left and a gateway on the right, each an engine with its control plane.
@Suite("Pushed settings between two engines", .serialized)
struct PushClientTests {
    private let clientKey = PrivateKey(Key256(words: SIMD4(repeating: 0x0101_0101)))
    private let gatewayKey = PrivateKey(Key256(words: SIMD4(repeating: 0x0202_0202)))

    /// The client with all that the test looks at.
    private struct Client {
        let end: EngineEnd
        let context: TestProviderContext
        let handle: PushClient.Handle
    }

    private func startClient(_ source: String, endpoint: UInt16, ceiling: String = "0.0.0.0/0, ::/0") throws -> Client {
        let text = """
            [Interface]
            # settings = \(source)
            PrivateKey = \(clientKey.base64)
            [Peer]
            PublicKey = \(gatewayKey.publicKey.base64)
            AllowedIPs = \(ceiling)
            Endpoint = 127.0.0.1:\(endpoint)
            """
        let configuration = try Configuration(wgQuick: text)
        let protocolConfiguration = TunnelProviderProtocol(providerBundleIdentifier: "org.providerhost.wireguard")
        let profile = try #require(try PushProfile(configuration, text: text, protocolConfiguration))
        let (end, context) = (try EngineEnd(), TestProviderContext())
        let engine = end.engine
        let handle = PushClient.Handle(ControlPlaneWaker { engine.wakeControlPlane() })
        guard case .address(let address)? = profile.gateway.endpoint else { throw EngineError.stopped }
        try engine.start(
            ControlSettings(configuration), endpoints: [gatewayKey.publicKey: address], isUp: true,
            plane: PushClient(profile, context, handle, endpoint: address, seed: 7))
        return Client(end: end, context: context, handle: handle)
    }

    private func startGateway(_ desk: TestGateway.Desk?) throws -> EngineEnd {
        let configuration = try Configuration(
            wgQuick: """
                [Interface]
                PrivateKey = \(gatewayKey.base64)
                [Peer]
                PublicKey = \(clientKey.publicKey.base64)
                AllowedIPs = 10.0.0.1/32
                """)
        let end = try EngineEnd()
        if let desk {
            try end.engine.start(
                ControlSettings(configuration), endpoints: [:], isUp: true,
                plane: TestGateway(desk, client: clientKey.publicKey))
        } else {
            try end.engine.start(configuration, endpoints: [:])
        }
        return end
    }

    private func snapshot(routes: [String], serial: UInt64) throws -> PublishedSnapshot {
        let server = try #require(IPAddress("10.0.0.53"))
        let dns = try DNSOffer(
            mode: .split, servers: [DNSServer(address: server)], searchDomains: [],
            matchDomains: [#require(DomainName("corp.example"))])
        let address = try #require(AssignedAddress(.v4(0x0a00_0001), prefixLength: 24))
        let snapshot = try Snapshot(
            addresses: [address], routes: routes.map { try #require(IPPrefix($0)) }, excludes: [], dns: dns, mtu: 1380,
            notice: nil)
        return PublishedSnapshot(bytes: snapshot.canonicalBytes, epoch: 1, serial: serial)
    }

    private func eventually(_ what: String, within milliseconds: Int, _ condition: () -> Bool) async throws {
        for _ in 0..<milliseconds / 10 {
            if condition() { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("no \(what) in \(milliseconds) ms")
    }

    private func packet(_ source: UInt32, _ destination: UInt32) -> [UInt8] {
        let addresses = [source, destination].flatMap { value in (0..<4).map { UInt8(value >> (24 - 8 * $0) & 255) } }
        return [0x45, 0, 0, 20, 0, 1, 0, 0, 64, 59, 0, 0] + addresses
    }

    private func routes(_ context: TestProviderContext) -> [String] {
        context.settings?.ipv4Settings?.includedRoutes?.map(\.destinationAddress) ?? []
    }

    @Test("The start waits for settings; a change arrives, results go back, only what is pushed passes")
    func settings() async throws {
        let desk = TestGateway.Desk()
        let first = try snapshot(routes: ["10.0.0.0/24"], serial: 1)
        desk.snapshot.withLock { $0 = first }
        let gateway = try startGateway(desk)
        let client = try startClient("pushRequired", endpoint: gateway.port)
        try await client.handle.started.wait()
        let settings = try #require(client.context.settings)
        #expect(settings.ipv4Settings?.addresses == ["10.0.0.1"])
        #expect(routes(client.context) == ["10.0.0.0"])
        #expect(settings.dnsSettings?.servers == ["10.0.0.53"])
        #expect(settings.mtu == 1380)
        try await eventually("result", within: 1000) { desk.results.withLock { $0.last?.status == .applied } }

        client.end.send(packet(0x0a00_0001, 0x0a09_0002))  // 10.9.0.2 is not pushed
        client.end.send(packet(0x0a00_0001, 0x0a00_0002))
        #expect(gateway.receive() == packet(0x0a00_0001, 0x0a00_0002))

        let second = try snapshot(routes: ["10.0.0.0/24", "10.9.0.0/16"], serial: 2)
        desk.snapshot.withLock { $0 = second }
        gateway.engine.wakeControlPlane()
        try await eventually("change", within: 2500) { routes(client.context) == ["10.9.0.0", "10.0.0.0"] }
        try await eventually("second result", within: 1000) {
            desk.results.withLock { $0.last?.version == second.version }
        }
        client.end.send(packet(0x0a00_0001, 0x0a09_0002))
        #expect(gateway.receive() == packet(0x0a00_0001, 0x0a09_0002))
        #expect(client.context.reassertingChanges == [true, false])

        await client.handle.stop()
        try await eventually("release", within: 1000) { desk.isReleased.load(ordering: .relaxed) }
    }

    @Test("What the machine is connected to narrows what is taken, and a change of it is followed")
    func hostNetworks() async throws {
        let desk = TestGateway.Desk()
        let first = try snapshot(routes: ["10.0.0.0/16"], serial: 1)
        desk.snapshot.withLock { $0 = first }
        let gateway = try startGateway(desk)
        let client = try startClient("pushRequired", endpoint: gateway.port)
        try await client.handle.started.wait()
        #expect(client.context.settings?.ipv4Settings?.excludedRoutes == [])
        client.context.connect(
            to: HostNetworks(
                addresses: [.init(interface: "eth0", address: "10.0.7.9", prefixLength: 24, mtu: 1400)],
                defaultRouteMTU: 1400))
        try await eventually("exclusion", within: 3000) {
            client.context.settings?.ipv4Settings?.excludedRoutes?.map(\.destinationAddress) == ["10.0.7.0"]
        }
        #expect(client.context.settings?.mtu == 1340)
        await client.handle.stop()
    }

    @Test("A local process cannot speak for either end")
    func forgery() async throws {
        let desk = TestGateway.Desk()
        let first = try snapshot(routes: ["10.0.0.0/24"], serial: 1)
        desk.snapshot.withLock { $0 = first }
        let gateway = try startGateway(desk)
        let client = try startClient("pushPreferred", endpoint: gateway.port)
        try await client.handle.started.wait()
        try await eventually("result", within: 1000) { desk.results.withLock { !$0.isEmpty } }
        let count = desk.messageCount.load(ordering: .relaxed)
        let own = ControlPacket.address(of: clientKey.publicKey)
        let far = ControlPacket.address(of: gatewayKey.publicKey)
        let release: [UInt8] = [1, 8, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0]
        // The gateway lets everything from this peer in, but its control addresses are nobody's all the same.
        var everything = ControlSettings.Peer(clientKey.publicKey)
        everything.allowedIPs = try ["::/0", "10.0.0.0/24"].map {
            ControlSettings.AllowedIPChange(prefix: try #require(IPPrefix($0)), isRemoval: false)
        }
        var change = ControlSettings()
        change.peers = [everything]
        #expect(gateway.engine.apply(change, endpoints: [:]))
        client.end.send(ControlPacket.make(message: release, from: own, to: far))
        gateway.send(ControlPacket.make(message: release, from: far, to: own))
        client.end.send(packet(0x0a00_0001, 0x0a00_0002))
        // Neither end's interface sees a control packet, and the forged ones went nowhere.
        #expect(gateway.receive() == packet(0x0a00_0001, 0x0a00_0002))
        #expect(desk.messageCount.load(ordering: .relaxed) == count)
        let isReleased = desk.isReleased.load(ordering: .relaxed)
        #expect(!isReleased)
        for engine in [client.end.engine, gateway.engine] {
            try await eventually("drop", within: 1000) { engine.statistics.withLock { $0.drops[.noRoute] } == 1 }
        }
        gateway.engine.stop()
        client.end.engine.stop()
    }

    @Test("A peer that pushes nothing is used with the settings of the profile after three seconds, in one line of log")
    func plainPeer() async throws {
        let gateway = try startGateway(nil)
        let client = try startClient("pushPreferred", endpoint: gateway.port, ceiling: "10.0.0.0/24")
        let begin = Clock.now()
        try await client.handle.started.wait()
        let span = (Clock.now() - begin).nanoseconds
        #expect((2_500_000_000...6_000_000_000).contains(span))
        #expect(routes(client.context) == ["10.0.0.0"])
        client.end.send(packet(0x0a00_0001, 0x0a00_0002))
        #expect(gateway.receive() == packet(0x0a00_0001, 0x0a00_0002))
        #expect(client.context.log.filter { $0.level < .info }.isEmpty)
    }

    @Test("A refused client does not start, and learns why")
    func refusal() async throws {
        let gateway = try startGateway(TestGateway.Desk())
        let client = try startClient("pushRequired", endpoint: gateway.port)
        let handle = client.handle
        let error = await #expect(throws: GatewayError.self) { try await handle.started.wait() }
        #expect(error?.errorCode == 5)
        #expect(error?.cause.contains("127.0.0.1") == true)
    }

    @Test("Comment lines of [Interface] are the policy, and a wrong one is named")
    func policyLines() throws {
        var policy = PushPolicy()
        try policy.readComments(
            ofFile: "[Interface]\n# settings = push\n#acceptDefaultRoute=true\n[Peer]\n# settings = static\n")
        #expect(policy.source == .push && policy.acceptDefaultRoute)
        let error = #expect(throws: PolicyLineError.self) {
            try policy.readComments(ofFile: "[Interface]\n# settings = never\n")
        }
        #expect(error?.cause.contains("never") == true)
    }
}
