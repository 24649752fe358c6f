import Netlink
import ProviderKit
import Testing

@testable import NetworkSettings

@Suite("Routes and rules")
struct LayoutTests {
    struct Case: CustomTestStringConvertible {
        var testDescription: String
        var settings: PacketTunnelNetworkSettings
        var side = 0
        var routes: [String]
        var rules: [String] = []
    }

    static let cases = [
        Case(
            testDescription: "IPv4 default route with an exclusion",
            settings: settings(["10.9.0.2/32"], include: ["0.0.0.0/0"], exclude: ["192.168.1.0/24"]),
            routes: [
                "unreachable 0.0.0.0/0 table 54006 metric 4278198272 by 2",
                "throw 192.168.1.0/24 table 54006 by 120", "0.0.0.0/0 dev 7 table 54006 by 120",
            ],
            rules: [
                "IPv4 5430: fwmark 0x70680003/0xffffffff lookup 254",
                "IPv4 5432: fwmark 0x70680003/0xffffffff unreachable", "IPv4 5436: lookup 54006",
            ]),
        Case(
            testDescription: "the other side has its own table and priority",
            settings: settings(["10.9.0.2/32"], include: ["10.0.0.0/8"]), side: 1,
            routes: ["10.0.0.0/8 dev 7 table 54007 by 120"],
            rules: [
                "IPv4 5430: fwmark 0x70680003/0xffffffff lookup 254",
                "IPv4 5432: fwmark 0x70680003/0xffffffff unreachable", "IPv4 5437: lookup 54007",
            ]),
        Case(
            testDescription: "a family without included routes gets no rules, and its exclusions nothing",
            settings: settings(["10.9.0.2/32", "fd00::2/128"], include: ["fd00::/8"], exclude: ["10.0.0.0/8"]),
            routes: ["fd00::/8 dev 7 table 54006 metric 1024 by 120"],
            rules: [
                "IPv6 5430: fwmark 0x70680003/0xffffffff lookup 254",
                "IPv6 5432: fwmark 0x70680003/0xffffffff unreachable", "IPv6 5436: lookup 54006",
            ]),
        Case(
            testDescription: "an address's own network goes into the tunnel, a link-local one does not",
            settings: settings(["10.9.0.2/24", "fe80::2/64"]), routes: ["10.9.0.0/24 dev 7 table 54006 by 120"],
            rules: [
                "IPv4 5430: fwmark 0x70680003/0xffffffff lookup 254",
                "IPv4 5432: fwmark 0x70680003/0xffffffff unreachable", "IPv4 5436: lookup 54006",
            ]),
        Case(
            testDescription: "two halves are a default route",
            settings: settings(["10.9.0.2/32"], include: ["128.0.0.0/1", "0.0.0.0/1"]),
            routes: [
                "unreachable 0.0.0.0/0 table 54006 metric 4278198272 by 2", "0.0.0.0/1 dev 7 table 54006 by 120",
                "128.0.0.0/1 dev 7 table 54006 by 120",
            ],
            rules: [
                "IPv4 5430: fwmark 0x70680003/0xffffffff lookup 254",
                "IPv4 5432: fwmark 0x70680003/0xffffffff unreachable", "IPv4 5436: lookup 54006",
            ]),
        Case(
            testDescription: "an exclusion wins over an equal inclusion, in a table without rules",
            settings: settings(
                ["10.9.0.2/32"], include: ["10.0.0.0/8", "10.1.0.0/16"], exclude: ["10.1.0.0/16"], routing: .table(77)),
            routes: ["throw 10.1.0.0/16 table 77 by 120", "10.0.0.0/8 dev 7 table 77 by 120"]),
        Case(
            testDescription: "in the main table the kernel has the own network already",
            settings: settings(["10.9.0.2/24"], include: ["10.9.0.0/24", "10.0.0.0/8"], routing: .table(254)),
            routes: ["10.0.0.0/8 dev 7 table 254 by 120"]),
        Case(
            testDescription: "routing off", settings: settings(["10.9.0.2/24"], include: ["0.0.0.0/0"], routing: .off),
            routes: []),
    ]

    @Test("layout", arguments: cases)
    func layout(_ example: Case) throws {
        let slot = try #require(PolicySlot(number: 3))
        let layout = PolicyLayout(
            try DesiredState(example.settings), interface: 7, slot: slot, side: example.side, mark: slot.defaultMark)
        #expect(layout.routes.map { "\($0) by \($0.protocolNumber)" } == example.routes)
        #expect(layout.rules.map(\.description) == example.rules)
        #expect(layout.rules.allSatisfy { $0.protocolNumber == 2 && PolicySlot.owner(of: $0) == slot })
    }

    @Test("a default route asks for src_valid_mark, a split tunnel does not", arguments: [true, false])
    func validMark(isDefault: Bool) throws {
        let system = ModelSystem()
        let interface = try InterfaceSettings(interface: "phtun0", effects: system)
        try interface.apply(settings(["10.9.0.2/32"], include: [isDefault ? "0.0.0.0/0" : "10.0.0.0/8"]))
        #expect(system.contents.sysctls[SettingsPlan.validMark] == (isDefault ? "1" : "0"))
        try interface.apply(settings(["10.9.0.2/32"], include: ["10.0.0.0/9"]))
        #expect(system.contents.sysctls[SettingsPlan.validMark] == "0")
    }

    @Test("a kernel setting that somebody else changed meanwhile stays as it is")
    func foreignSysctl() throws {
        let system = ModelSystem()
        let interface = try InterfaceSettings(interface: "phtun0", effects: system)
        try interface.apply(settings(["10.9.0.2/32"], include: ["0.0.0.0/0"]))
        system.change { $0.sysctls[SettingsPlan.validMark] = "2" }
        #expect(interface.teardown() == [])
        #expect(system.contents.sysctls[SettingsPlan.validMark] == "2")
    }

    @Test("slots in use are passed over, by their rules, their tables or the caller's word")
    func slots() throws {
        let system = ModelSystem()
        let table = Route(.everything(.ipv4), interface: 2, table: 54_002, protocolNumber: 4)
        system.change { contents in
            contents.rules.insert(Rule(family: .ipv6, priority: 5409, action: .lookup(12), protocolNumber: 4))
            contents.routes.insert(table)
            contents.rules.insert(Rule(family: .ipv4, priority: 9, action: .lookup(54_005), protocolNumber: 4))
        }
        let taken = try #require(PolicySlot(number: 3))
        let interface = try InterfaceSettings(interface: "phtun0", effects: system, taken: [taken])
        #expect(interface.slot.number == 4 && interface.mark == 0x7068_0004)
        #expect(try InterfaceSettings(interface: "phtun0", effects: system, mark: 9).mark == 9)
        #expect(throws: SettingsApplyError.self) {
            let all = Set(PolicySlot.numbers.compactMap { PolicySlot(number: $0) })
            return try InterfaceSettings(interface: "phtun0", effects: system, taken: all)
        }
    }

    @Test("DNS that the back end cannot express is reported as without effect, and so are exclusions in the main table")
    func shortfalls() throws {
        let interface = try InterfaceSettings(interface: "phtun0", effects: ModelSystem()) {
            NoResolver(reason: "no back end", remedy: "Name one.")
        }
        var value = settings(
            ["10.9.0.2/32"], include: ["10.0.0.0/8"], exclude: ["10.1.0.0/16"], routing: .table(254))
        value.dnsSettings = DNSSettings(servers: ["10.0.0.53"])
        let result = try interface.apply(value)
        #expect(result.shortfalls.map(\.part) == ["dnsSettings", "excludedRoutes"])
        #expect(result.shortfalls.first?.description == "dnsSettings: Not applied: no back end. Name one.")
        #expect(result.routeCount == 1 && result.ruleCount == 0 && result.table == 254)
    }

    @Test("an MTU that follows from a way out which carries less than IPv6 needs is told, and one that is given is not")
    func narrowWayOut() throws {
        let interface = try InterfaceSettings(interface: "phtun0", effects: ModelSystem(underlayMTU: 1300))
        let result = try interface.apply(settings(["10.9.0.2/32", "fd00::2/128"]))
        #expect(result.mtu == 1280 && result.shortfalls.map(\.part) == ["mtu"])
        let cause = try #require(result.shortfalls.first).cause
        #expect(cause.contains("1300") && cause.contains("1220") && cause.contains("IPv6"))
        #expect(result.shortfalls.first?.remedy.contains("1360") == true)
        #expect(try interface.apply(settings(["10.9.0.2/32"])).shortfalls == [])
        #expect(try interface.apply(settings(["fd00::2/128"], mtu: 1280)).shortfalls == [])
    }

    @Test("without IPv6 on the system, IPv4 works and IPv6 has an error that names it")
    func withoutIPv6() throws {
        let system = ModelSystem(hasIPv6: false)
        let interface = try InterfaceSettings(interface: "phtun0", effects: system)
        try interface.apply(settings(["10.9.0.2/32"], include: ["0.0.0.0/0"]))
        let before = system.contents
        for wanted in [settings(["fd00::2/128"]), settings(["10.9.0.2/32"], include: ["::/0"])] {
            let error = #expect(throws: SettingsApplyError.self) { try interface.apply(wanted) }
            #expect(error?.underlying?.kind == .ipv6Unavailable && error?.cause.contains("IPv6") == true)
            #expect(system.contents == before)
        }
    }
}
