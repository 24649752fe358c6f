import Testing
import WireGuard

@testable import SettingsPush

@Suite("The policy filter")
struct FilterTests {
    private struct Case {
        var policy = PushPolicy()
        var context: PolicyContext

        init(ceiling: String...) throws {
            context = PolicyContext(ceiling: try ceiling.map { try #require(IPPrefix($0)) })
            context.controlAddresses = [.v6(0xfe80 << 112 | 1), .v6(0xfe80 << 112 | 2)]
        }

        func filter(
            addresses: [String] = [], routes: [String] = [], excludes: [String] = [], dns: DNSOffer? = nil,
            mtu: UInt16? = nil
        ) throws -> FilterOutcome {
            let snapshot = try Snapshot(
                addresses: addresses.map(Examples.assigned), routes: routes.map { try #require(IPPrefix($0)) },
                excludes: excludes.map { try #require(IPPrefix($0)) }, dns: dns, mtu: mtu, notice: nil)
            return PolicyFilter(policy: policy, context: context).filter(snapshot)
        }
    }

    private func routes(_ outcome: FilterOutcome) -> [String] { outcome.settings.routes.map(\.description) }

    private func reasons(_ outcome: FilterOutcome) -> [ReasonCode] {
        outcome.decisions.map(\.reason).filter { $0 != .accepted }
    }

    @Test("lets what the profile allows through whole")
    func everything() throws {
        let outcome = PolicyFilter(
            policy: PushPolicy(), context: try Case(ceiling: "0.0.0.0/0", "::/0").context
        ).filter(try Examples.snapshot())
        #expect(outcome.settings.routes == outcome.snapshot.routes)
        #expect(outcome.settings.addresses == outcome.snapshot.addresses)
        #expect(outcome.settings.excludes == outcome.snapshot.excludes)
        #expect(outcome.settings.mtu == 1380)
        #expect(reasons(outcome) == [.searchDowngraded])
        #expect(outcome.status == .applied)
        #expect(outcome.findings == [SettingsFinding(section: 0x0010, index: 1, reason: .searchDowngraded)])
    }

    @Test(
        "never takes routes that no tunnel may have",
        arguments: [
            ("127.0.0.0/8", ReasonCode.loopback), ("127.1.2.3/32", .loopback), ("0.0.0.0/8", .unspecified),
            ("224.0.0.0/4", .multicast), ("169.254.0.0/16", .linkLocal), ("240.0.0.0/4", .reserved),
            ("::1/128", .loopback),
            ("::/128", .unspecified), ("ff00::/8", .multicast), ("fe90::/16", .linkLocal),
            ("::ffff:0:0/96", .mappedIPv4),
            ("::ffff:10.0.0.0/104", .mappedIPv4), ("fe80::1/128", .controlAddress), ("fe80::/10", .controlAddress),
            ("fe00::/8", .controlAddress),
        ])
    func never(prefix: String, reason: ReasonCode) throws {
        var test = try Case(ceiling: "0.0.0.0/0", "::/0")
        test.policy.acceptDefaultRoute = true
        test.policy.acceptRoutes = try Examples.prefixes("0.0.0.0/0", "::/0")
        test.policy.enforceRoutes = true
        let outcome = try test.filter(routes: [prefix])
        #expect(reasons(outcome) == [reason] && routes(outcome).isEmpty)
        #expect(outcome.status == .filtered)
    }

    @Test(
        "never takes addresses that no tunnel may have",
        arguments: [
            ("127.0.0.1/8", ReasonCode.loopback), ("192.0.2.7/24", .documentation), ("2001:db8::7/64", .documentation),
            ("fe80::7/64", .linkLocal), ("0.0.0.0/32", .unspecified), ("239.1.1.1/32", .multicast),
            ("255.255.255.255/32", .reserved),
        ])
    func neverAddress(address: String, reason: ReasonCode) throws {
        let outcome = try Case(ceiling: "0.0.0.0/0", "::/0").filter(addresses: [address])
        #expect(reasons(outcome) == [reason])
        #expect(outcome.isRejected && outcome.status == .rejected, "nothing is left to make a tunnel of")
    }

    @Test("keeps routes inside the ceiling")
    func ceiling() throws {
        let test = try Case(ceiling: "10.1.0.0/16", "10.2.0.0/16")
        let outside = try test.filter(routes: ["10.1.5.0/24", "10.3.0.0/16"])
        #expect(routes(outside) == ["10.1.5.0/24"] && reasons(outside) == [.outsideCeiling])
        let wider = try test.filter(routes: ["10.0.0.0/8"])
        #expect(routes(wider) == ["10.1.0.0/16", "10.2.0.0/16"] && reasons(wider) == [.narrowedToCeiling])
        #expect(wider.status == .applied)
    }

    @Test("keeps another peer's prefixes with that peer")
    func ownership() throws {
        var test = try Case(ceiling: "0.0.0.0/0")
        test.policy.acceptDefaultRoute = true
        test.context.otherPeers = [.init(name: "branch", ceiling: try Examples.prefixes("10.1.0.0/16"))]
        let outcome = try test.filter(routes: ["0.0.0.0/0", "10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.2.0.0/16"])
        #expect(routes(outcome) == ["0.0.0.0/0", "10.2.0.0/16"])
        #expect(reasons(outcome) == Array(repeating: .ownedByAnotherPeer, count: 3))
        #expect(outcome.decisions.first { $0.reason == .ownedByAnotherPeer }?.detail == "branch")
    }

    @Test(
        "takes no default route without consent, in whatever pieces it comes",
        arguments: [
            ["0.0.0.0/0"], ["::/0"], ["0.0.0.0/1", "128.0.0.0/1"], ["0.0.0.0/1", "128.0.0.0/2"], ["2000::/3"],
            ["2000::/4", "3000::/5"],
        ])
    func defaultRoute(offered: [String]) throws {
        var test = try Case(ceiling: "0.0.0.0/0", "::/0")
        let refused = try test.filter(routes: offered + ["10.0.0.0/8"])
        #expect(reasons(refused).contains(.defaultRoute))
        #expect(!IPPrefix.amountToDefault(refused.settings.routes.filter(\.isIPv4)))
        #expect(!IPPrefix.amountToDefault(refused.settings.routes.filter { !$0.isIPv4 }))
        #expect(routes(refused).contains("10.0.0.0/8"))
        test.policy.acceptDefaultRoute = true
        let accepted = try test.filter(routes: offered)
        #expect(routes(accepted) == offered)
        #expect(accepted.settings.blockedFamilies == (offered[0].contains(":") ? .ipv4 : .ipv6))
        test.policy.blockOtherFamily = false
        #expect(try test.filter(routes: offered).settings.blockedFamilies == [])
    }

    @Test("obeys the lists of the profile")
    func lists() throws {
        var test = try Case(ceiling: "10.0.0.0/8")
        test.policy.acceptRoutes = try Examples.prefixes("10.1.0.0/16")
        test.policy.denyRoutes = try Examples.prefixes("10.1.2.0/24")
        test.policy.maxRoutes = 2
        let outcome = try test.filter(routes: [
            "10.1.0.0/16", "10.1.2.0/25", "10.1.3.0/24", "10.1.4.0/24", "10.9.0.0/16",
        ])
        #expect(routes(outcome) == ["10.1.0.0/16", "10.1.3.0/24"])
        #expect(outcome.settings.excludes.map(\.description) == ["10.1.2.0/24"])
        #expect(reasons(outcome) == [.narrowedByDenyRoutes, .notInAcceptRoutes, .inDenyRoutes, .tooManyRoutes])
    }

    @Test("leaves connected private networks local unless routes are enforced")
    func localNetworks() throws {
        var test = try Case(ceiling: "0.0.0.0/0")
        test.context.connectedNetworks = [
            .init(interface: "eth0", prefix: try #require(IPPrefix("192.168.1.0/24"))),
            .init(interface: "eth1", prefix: try #require(IPPrefix("9.9.8.0/21"))),
        ]
        let offered = ["9.9.8.0/21", "192.168.0.0/16", "192.168.1.0/24", "192.168.1.7/32"]
        let normal = try test.filter(routes: offered)
        #expect(routes(normal) == ["192.168.0.0/16", "9.9.8.0/21", "192.168.1.7/32"])
        #expect(normal.settings.excludes.map(\.description) == ["192.168.1.0/24"])
        #expect(
            reasons(normal) == [
                .localNetworkExcepted, .overridesLocalNetwork, .localNetwork, .overridesLocalNetwork,
            ])
        test.policy.excludeLocalNetworks = true
        #expect(routes(try test.filter(routes: offered)) == ["192.168.0.0/16", "9.9.8.0/21"])
        test.policy.includeAllNetworks = true
        #expect(routes(try test.filter(routes: offered)) == ["192.168.0.0/16", "9.9.8.0/21"], "and is left out of all")
        test.policy.excludeLocalNetworks = false
        let inside = try test.filter(routes: offered)
        #expect(inside.settings.routes.count == 4 && inside.settings.excludes.isEmpty, "nothing is out of reach")
        test.policy.includeAllNetworks = false
        test.policy.enforceRoutes = true
        let enforced = try test.filter(routes: offered)
        #expect(enforced.settings.routes.count == 4 && enforced.settings.excludes.isEmpty)
    }

    @Test("takes no exclusion where the profile forbids a way past the tunnel")
    func exclusions() throws {
        var test = try Case(ceiling: "0.0.0.0/0")
        #expect(try test.filter(excludes: ["10.1.0.0/16"]).settings.excludes.count == 1)
        #expect(reasons(try test.filter(excludes: ["0.0.0.0/0", "127.0.0.0/8"])) == [.exclusionForbidden, .loopback])
        test.policy.enforceRoutes = true
        #expect(reasons(try test.filter(excludes: ["10.1.0.0/16"])) == [.exclusionForbidden])
    }

    @Test("keeps addresses inside the pools and off other interfaces")
    func addresses() throws {
        var test = try Case(ceiling: "0.0.0.0/0")
        test.policy.allowedAddressPools = try Examples.prefixes("10.66.0.0/16")
        test.context.addressesInUse = [try Examples.address("10.66.0.3"): "eth0"]
        let outcome = try test.filter(addresses: ["10.66.0.2/16", "10.66.0.3/16", "10.67.0.2/16"])
        #expect(outcome.settings.addresses.map(\.description) == ["10.66.0.2/16"])
        #expect(reasons(outcome) == [.addressInUse, .outsideAddressPools])
        #expect(!outcome.isRejected && outcome.status == .filtered)
    }

    @Test(
        "brings an MTU into the range",
        arguments: [
            (UInt16(1420), [] as [String], 1420), (600, [], 600), (600, ["fd00::1/64"], 1280), (9000, [], 1440),
        ])
    func mtu(offered: UInt16, addresses: [String], taken: Int) throws {
        var test = try Case(ceiling: "0.0.0.0/0", "::/0")
        test.context.largestMTU = 1440
        let outcome = try test.filter(addresses: addresses, mtu: offered)
        #expect(outcome.settings.mtu == taken)
        #expect(reasons(outcome) == (Int(offered) == taken ? [] : [.mtuClamped]))
        #expect(outcome.status == .applied)
    }

    @Test("takes as much of name resolution as the profile says")
    func dns() throws {
        var test = try Case(ceiling: "0.0.0.0/0")
        func offer(_ mode: DNSOffer.Mode, server: String = "10.0.0.1") throws -> DNSOffer {
            try DNSOffer(
                mode: mode, servers: [DNSServer(address: Examples.address(server))],
                searchDomains: [Examples.name("corp.example")], matchDomains: [Examples.name("lab.example")])
        }
        let split = try test.filter(routes: ["10.0.0.0/8"], dns: offer(.split))
        #expect(split.settings.dns?.matchDomains.map(\.text) == ["corp.example", "lab.example"])
        #expect(split.settings.dns?.searchDomains == [] && split.settings.dns?.capturesAll == false)
        let full = try test.filter(routes: ["10.0.0.0/8"], dns: offer(.full))
        #expect(reasons(full) == [.searchDowngraded, .dnsCaptureNotAllowed])
        #expect(full.settings.dns?.capturesAll == false && full.settings.dns != nil)
        let unreachable = try test.filter(routes: ["10.0.0.0/8"], dns: offer(.split, server: "8.8.8.8"))
        #expect(unreachable.settings.dns == nil)
        #expect(reasons(unreachable) == [.dnsServerUnreachable, .dnsIncomplete, .dnsIncomplete])
        #expect(reasons(try test.filter(routes: [], dns: offer(.split, server: "127.0.0.53"))).first == .loopback)
        test.policy.allowedDNSZones = [try Examples.name("lab.example")]
        test.policy.acceptSearchDomains = true
        let zoned = try test.filter(routes: ["10.0.0.0/8"], dns: offer(.split))
        #expect(zoned.settings.dns?.searchDomains == [] && reasons(zoned) == [.outsideDNSZones])
        test.policy.acceptDNS = .none
        #expect(
            reasons(try test.filter(routes: ["10.0.0.0/8"], dns: offer(.split))).allSatisfy { $0 == .dnsNotAccepted })
        test.policy.acceptDNS = .full
        test.policy.acceptDefaultRoute = true
        test.policy.allowedDNSZones = nil
        let captured = try test.filter(routes: ["0.0.0.0/0"], dns: offer(.full))
        #expect(captured.settings.dns?.capturesAll == true)
        #expect(captured.settings.dns?.searchDomains.map(\.text) == ["corp.example"])
    }

    @Test("refuses servers that this machine's resolver cannot be given")
    func transports() throws {
        let server = try #require(
            DNSServer(
                address: Examples.address("10.0.0.1"), port: 853, transport: .tls, name: Examples.name("dns.example")))
        let offer = try DNSOffer(
            mode: .split, servers: [server], searchDomains: [], matchDomains: [Examples.name("lab.example")])
        let outcome = try Case(ceiling: "0.0.0.0/0").filter(routes: ["10.0.0.0/8"], dns: offer)
        #expect(reasons(outcome) == [.dnsTransportUnsupported, .dnsIncomplete])
    }

    @Test("filters 10,000 routes in well under its share of half a second")
    func large() throws {
        let snapshot = try Examples.snapshot(routes: 10_000)
        var test = try Case(ceiling: "0.0.0.0/0")
        test.policy.maxRoutes = 16_384
        let clock = ContinuousClock()
        let filter = PolicyFilter(policy: test.policy, context: test.context)
        var outcome: FilterOutcome?
        let time = clock.measure { outcome = filter.filter(snapshot) }
        #expect(outcome?.settings.routes.count == 10_000)
        // Without optimisation, on a machine that does other things too.
        #expect(time < .seconds(1), "\(time)")
    }
}
