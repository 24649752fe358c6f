import GatewayRegistry
import SettingsPush
import Testing
import WireGuard

@Suite("Registry: what is pushed")
struct PushedSnapshotTests {
    @Test("Addresses, pools, and the routes of all scopes; none to the peer's own site")
    func routes() throws {
        var contents = try makeContents("10.7.0.0/24", "fd07::/64")
        try contents.add(makePeer("a", group: "staff", subnets: "192.168.0.0/16"))
        try contents.add(makePeer("b", subnets: "172.16.1.0/24"))
        try contents.addRoute(prefix("10.20.0.0/16"), .included, for: .gateway)
        try contents.addRoute(prefix("192.168.7.0/24"), .included, for: .gateway)
        try contents.addRoute(prefix("10.30.0.0/16"), .included, for: .group("staff"))
        try contents.addRoute(prefix("10.40.0.0/16"), .included, for: .peer("b"))
        try contents.addRoute(prefix("10.20.9.0/24"), .excluded, for: .gateway)
        let a = try contents.snapshot(of: "a")
        #expect(
            Set(a.routes.map { "\($0)" }) == ["10.7.0.0/24", "fd07::/64", "10.20.0.0/16", "10.30.0.0/16"])
        #expect(a.excludes.map { "\($0)" } == ["10.20.9.0/24"])
        let bits = a.addresses.map(\.prefixLength)
        #expect(bits == [32, 128])
        #expect(a.addresses.map { "\($0.address)" } == contents.addresses(of: "a"))
        let b = try contents.snapshot(of: "b")
        #expect(
            Set(b.routes.map { "\($0)" })
                == ["10.7.0.0/24", "fd07::/64", "10.20.0.0/16", "192.168.7.0/24", "10.40.0.0/16"])
        try contents.removeRoute(prefix("10.40.0.0/16"), .included, for: .peer("b"))
        #expect(try !contents.snapshot(of: "b").routes.contains(prefix("10.40.0.0/16")))
    }

    @Test("DNS and MTU: the narrowest scope wins, and a cleared one gives way")
    func narrowest() throws {
        var contents = try makeContents("10.7.0.0/24")
        try contents.add(makePeer("a", group: "g"))
        #expect(try contents.snapshot(of: "a").mtu == 1420)
        #expect(try contents.snapshot(of: "a").dns == nil)
        func offer(_ last: UInt32) throws -> DNSOffer {
            try DNSOffer(
                mode: .full, servers: [DNSServer(address: .v4(0x0a07_0000 + last))], searchDomains: [],
                matchDomains: [])
        }
        let scopes: [(PushScope, Int)] = [(.gateway, 1300), (.group("g"), 1310), (.peer("a"), 1320)]
        for (index, (scope, mtu)) in scopes.enumerated() {
            try contents.setMTU(mtu, for: scope)
            try contents.setDNS(offer(UInt32(index)), for: scope)
            #expect(try contents.snapshot(of: "a").mtu == UInt16(mtu))
            #expect(try contents.snapshot(of: "a").dns == offer(UInt32(index)))
        }
        for (scope, mtu) in scopes.reversed() {
            #expect(try contents.snapshot(of: "a").mtu == UInt16(mtu))
            try contents.setMTU(nil, for: scope)
            try contents.setDNS(nil, for: scope)
        }
        #expect(try contents.snapshot(of: "a").mtu == 1420)
        #expect(contents.profiles.isEmpty)
    }

    @Test("Nothing is accepted from a peer that is disabled; one that drains is served")
    func states() throws {
        var contents = try makeContents("10.7.0.0/24")
        try contents.add(makePeer("a", subnets: "172.16.0.0/24"))
        #expect(try contents.allowedIPs(of: "a").count == 2)
        try contents.setState(.draining, of: "a")
        #expect(try contents.allowedIPs(of: "a").count == 2)
        try contents.setState(.disabled, of: "a")
        #expect(try contents.allowedIPs(of: "a").isEmpty)
    }

    @Test("The exported file is one that the WireGuard provider reads: keys and endpoint, no address")
    func export() throws {
        var generator = Generator(8)
        let contents = try makeContents("10.7.0.0/24")
        let key = PrivateKey(generator.nextKey())
        let peer = GatewayPeer(
            name: "a", publicKey: key.publicKey, presharedKey: PresharedKey(generator.nextKey()), group: nil,
            siteSubnets: [])
        let text = ClientConfiguration(gateway: contents.gateway, peer: peer, privateKey: key).wgQuickText
        let parsed = try Configuration(wgQuick: text)
        #expect(parsed.interface.privateKey == key)
        #expect(parsed.interface.addresses.isEmpty && parsed.interface.dnsServers.isEmpty)
        #expect(parsed.interface.mtu == nil && parsed.interface.hooks.isEmpty)
        let far = try #require(parsed.peers.first)
        #expect(parsed.peers.count == 1 && far.publicKey == contents.gateway.publicKey)
        #expect(far.presharedKey == peer.presharedKey)
        #expect(far.endpoint == .name("gateway.example.com", port: 51820))
        #expect(text.contains("\n# settings = push"))
    }
}
