import Netlink
import Testing

@testable import NetworkSettings

@Suite("Address translation for gateways")
struct MasqueradeTests {
    private static let switches = ["net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding"]

    /// A machine that forwards nothing, or IPv4 already.
    private static func machine(forwardsIPv4: Bool = false) -> ModelSystem {
        let system = ModelSystem()
        system.change { contents in
            for name in switches { contents.sysctls[name] = "0" }
            if forwardsIPv4 { contents.sysctls[switches[0]] = "1" }
            contents.sysctls["net/ipv6/conf/eth0/accept_ra"] = "1"
        }
        return system
    }

    private static func gateway(_ name: String, _ system: ModelSystem) -> Masquerade {
        Masquerade(interface: name, filter: ModelFilter(system: system), effects: system)
    }

    private static func forwarding(_ system: ModelSystem) -> [String?] { switches.map(system.sysctl) }

    @Test("only the families of the tunnel are forwarded, and only what was off is turned off again")
    func families() throws {
        let system = Self.machine()
        let before = system.contents
        var gateway = Self.gateway("phgw0", system)
        #expect(try gateway.begin([.ipv4]).isEmpty)
        #expect(Self.forwarding(system) == ["1", "0"])
        #expect(Set(system.contents.filter.keys.map(\.purpose)) == [.masquerade, .forward])
        try gateway.end()
        #expect(system.contents == before)

        let router = Self.machine(forwardsIPv4: true)
        let beforeRouter = router.contents
        gateway = Self.gateway("phgw0", router)
        #expect(try gateway.begin([.ipv4]).isEmpty)
        #expect(router.contents.filter.keys.map(\.purpose) == [.masquerade])
        try gateway.end()
        #expect(router.contents == beforeRouter)
    }

    @Test("the last of several gateways turns forwarding off, whichever it is", arguments: [false, true])
    func several(_ isReversed: Bool) throws {
        let system = Self.machine()
        let before = system.contents
        var gateways = ["phgw0", "phgw1"].map { Self.gateway($0, system) }
        for index in gateways.indices { #expect(try gateways[index].begin([.ipv4, .ipv6]).isEmpty) }
        let order = isReversed ? gateways.reversed() : gateways
        try order[0].end()
        #expect(Self.forwarding(system) == ["1", "1"])
        let forwards = system.contents.filter.values.filter { $0.name.purpose == .forward }
        let staying = isReversed ? "phgw0" : "phgw1"
        #expect(forwards.count == 2)
        #expect(forwards.allSatisfy { $0.name.interface == staying && $0.chains[0].rules.count == 2 })
        try order[1].end()
        #expect(system.contents == before)
    }

    @Test("a sweep ends what a killed gateway left, and nothing of one that runs")
    func sweep() throws {
        let system = Self.machine()
        let before = system.contents
        var alive = Self.gateway("phgw1", system)
        var killed = Self.gateway("phgw0", system)
        #expect(try alive.begin([.ipv4]).isEmpty)
        let afterFirst = system.contents
        #expect(try killed.begin([.ipv4]).isEmpty)
        func sweep(_ name: String) throws -> Set<String> {
            Set(try Masquerade.sweep(ModelFilter(system: system), system) { $0 == name }.map(\.interface))
        }
        #expect(try sweep("phgw2").isEmpty)
        #expect(try sweep("phgw0") == ["phgw0"])
        #expect(system.contents == afterFirst)
        #expect(try sweep("phgw1") == ["phgw1"])
        #expect(system.contents == before)
    }

    @Test("IPv6 stays off where the kernel would lose its own default route, and the remark says what to do")
    func advertisements() throws {
        let system = Self.machine()
        system.change {
            $0.routes.insert(Route(.everything(.ipv6), interface: 2, metric: 1024, protocolNumber: 9))
        }
        var gateway = Self.gateway("phgw0", system)
        let remarks = try gateway.begin([.ipv4, .ipv6])
        #expect(remarks.count == 1 && remarks[0].contains("net.ipv6.conf.eth0.accept_ra"), "\(remarks)")
        #expect(Self.forwarding(system) == ["1", "0"])
        system.change { $0.sysctls["net/ipv6/conf/eth0/accept_ra"] = "2" }
        #expect(try gateway.begin([.ipv4, .ipv6]).isEmpty)
        #expect(Self.forwarding(system) == ["1", "1"])
    }

    @Test("a packet filter that refuses changes nothing")
    func refused() throws {
        let system = Self.machine()
        let before = system.contents
        var gateway = Self.gateway("phgw0", system)
        system.arm(.refused, from: 0, through: 0)
        #expect(throws: FilterError.self) { _ = try gateway.begin([.ipv4]) }
        #expect(system.contents == before)
    }
}
