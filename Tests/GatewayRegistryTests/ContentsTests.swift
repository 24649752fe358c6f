import GatewayRegistry
import ProviderKit
import SettingsPush
import Testing
import WireGuard

@Suite("Registry: what is refused")
struct ContentsTests {
    private func code(_ body: () throws -> Void) -> RegistryErrorCode? {
        do {
            try body()
            return nil
        } catch {
            return (error as? RegistryError)?.code
        }
    }

    @Test(
        "Pools",
        arguments: [
            ("10.7.0.0/31", RegistryErrorCode.invalidPrefix), ("10.7.0.1/24", .invalidPrefix),
            ("127.0.0.0/24", .invalidPrefix), ("224.0.0.0/24", .invalidPrefix), ("fe80::/64", .invalidPrefix),
            ("0.0.0.0/0", .invalidPrefix), ("10.0.0.0/8", .overlap), ("10.7.0.128/25", .overlap),
            ("192.168.4.0/23", .overlap), ("x", .invalidPrefix), ("10.7.0.0/33", .invalidPrefix),
        ])
    func pools(_ text: String, _ expected: RegistryErrorCode) throws {
        var contents = try makeContents("10.7.0.0/24")
        try contents.add(makePeer("site", subnets: "192.168.5.0/24"))
        let before = contents
        var generator = Generator(3)
        #expect(code { try contents.addPool(prefix(text), now: 0, random: &generator) } == expected)
        #expect(contents == before)
    }

    @Test(
        "Names of peers and groups",
        arguments: ["", ".a", "-a", "a b", "a/b", "ä", "a\u{0}", String(repeating: "a", count: 64), "a\n"])
    func names(_ name: String) throws {
        var contents = try makeContents("10.7.0.0/24")
        #expect(code { try contents.add(makePeer(name)) } == .invalidName)
        #expect(code { try contents.add(makePeer("a", group: name)) } == .invalidName)
        #expect(code { try contents.addRoute(prefix("10.0.0.0/8"), .included, for: .group(name)) } == .invalidName)
        #expect(contents.peers.isEmpty)
    }

    @Test("A second peer of the name, of the key, and the gateway's own key")
    func duplicates() throws {
        var contents = try makeContents("10.7.0.0/24")
        let alice = try makePeer("alice")
        try contents.add(alice)
        #expect(code { try contents.add(makePeer("alice")) } == .duplicateName)
        func peer(_ key: PublicKey) -> GatewayPeer {
            GatewayPeer(name: "bob", publicKey: key, presharedKey: nil, group: nil, siteSubnets: [])
        }
        #expect(code { try contents.add(peer(alice.publicKey)) } == .duplicateKey)
        #expect(code { try contents.add(peer(contents.gateway.publicKey)) } == .duplicateKey)
        #expect(code { try contents.add(peer(PublicKey(.zero))) } == .invalidValue)
        #expect(contents.peers.count == 1)
        #expect(contents.peer(with: alice.publicKey)?.name == "alice")
        try contents.removePeer("alice")
        #expect(contents.peer(with: alice.publicKey) == nil)
        try contents.add(peer(alice.publicKey))
    }

    @Test("Site subnets that overlap a pool, another site, each other, or everything")
    func siteSubnets() throws {
        var contents = try makeContents("10.7.0.0/24")
        try contents.add(makePeer("a", subnets: "192.168.1.0/24", "192.168.3.0/24"))
        #expect(code { try contents.add(makePeer("b", subnets: "192.168.0.0/16")) } == .overlap)
        #expect(code { try contents.add(makePeer("b", subnets: "192.168.1.128/25")) } == .overlap)
        #expect(code { try contents.add(makePeer("b", subnets: "10.7.0.0/25")) } == .overlap)
        #expect(code { try contents.add(makePeer("b", subnets: "172.16.0.0/16", "172.16.4.0/24")) } == .overlap)
        #expect(code { try contents.add(makePeer("b", subnets: "0.0.0.0/0")) } == .invalidPrefix)
        #expect(code { try contents.add(makePeer("b", subnets: "169.254.0.0/16")) } == .invalidPrefix)
        try contents.add(makePeer("b", subnets: "192.168.2.0/24"))
        #expect(try contents.allowedIPs(of: "b").map { "\($0)" }.last == "192.168.2.0/24")
    }

    @Test("Addresses that are chosen: in a pool, no one else's, not the gateway's, one of a family")
    func chosenAddresses() throws {
        var contents = try makeContents("10.7.0.0/24", "fd07::/64")
        try contents.add(makePeer("a"), addresses: ["10.7.0.9", "fd07::9"])
        #expect(contents.addresses(of: "a") == ["10.7.0.9", "fd07::9"])
        for outside in ["10.8.0.1", "10.7.0.0", "10.7.0.1", "10.7.0.255", "fd07::1", "fd08::2"] {
            #expect(code { try contents.add(makePeer("b"), addresses: [outside]) } == .addressOutsidePools)
        }
        #expect(code { try contents.add(makePeer("b"), addresses: ["10.7.0.9"]) } == .addressTaken)
        #expect(code { try contents.add(makePeer("b"), addresses: ["10.7.0.7", "10.7.0.8"]) } == .invalidValue)
        #expect(contents.peers.keys.sorted() == ["a"])
        #expect(contents.leases.byAddress.count == 2)
    }

    @Test("Routes: what no client would take, what is not there, more than a snapshot has room for")
    func routes() throws {
        var contents = try makeContents("10.7.0.0/24")
        try contents.add(makePeer("a", group: "g"))
        #expect(code { try contents.addRoute(prefix("127.0.0.0/8"), .included, for: .gateway) } == .invalidPrefix)
        #expect(code { try contents.addRoute(prefix("10.0.0.0/8"), .included, for: .peer("b")) } == .unknownPeer)
        #expect(code { try contents.removeRoute(prefix("10.0.0.0/8"), .included, for: .gateway) } == .unknownRoute)
        try contents.addRoute(prefix("0.0.0.0/0"), .included, for: .gateway)
        for index in 0..<1000 {
            try contents.addRoute(prefix("172.16.\(index / 256).\(index % 256)/32"), .included, for: .group("g"))
        }
        // 1,001 routes and the pool's own: 22 more fit.
        for index in 0..<22 { try contents.addRoute(prefix("192.168.\(index).0/24"), .included, for: .peer("a")) }
        #expect(code { try contents.addRoute(prefix("192.168.99.0/24"), .included, for: .peer("a")) } == .tooMany)
        #expect(try contents.snapshot(of: "a").routes.count == 1024)
        #expect(code { try contents.add(makePeer("b", group: "g")) } == nil)
    }

    @Test("MTUs", arguments: [0, 576, 1279, 9001])
    func mtu(_ mtu: Int) throws {
        var contents = try makeContents("10.7.0.0/24")
        #expect(code { try contents.setMTU(mtu, for: .gateway) } == .invalidValue)
    }

    @Test("Every code has a cause and a remedy of its own words")
    func texts() {
        for code in RegistryErrorCode.allCases {
            let error = RegistryError(code)
            #expect(error.cause.hasSuffix(".") && error.remedy.hasSuffix("."), "\(code)")
        }
    }
}
