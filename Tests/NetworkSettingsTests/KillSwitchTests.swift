import Netlink
import ProviderKit
import Testing

@testable import NetworkSettings

/// The kill switch as a part of the settings: armed first, changed with them, ended last.
@Suite("Kill switch")
struct KillSwitchTests {
    private static let switches = [
        KillSwitch(.everything, excludesLocalNetworks: false), KillSwitch(.everything, excludesLocalNetworks: true),
        KillSwitch(.routes, excludesLocalNetworks: false), KillSwitch(.routes, excludesLocalNetworks: true),
    ]
    private static let sets = [
        "nothing", "IPv4 default with DNS", "split with other DNS", "both defaults", "no routes",
    ]
    .compactMap { name in UndoTests.sets.first { $0.name == name } }

    private static func start(
        _ killSwitch: KillSwitch, _ first: PacketTunnelNetworkSettings?
    ) throws -> (ModelSystem, InterfaceSettings) {
        let system = ModelSystem()
        system.change { _ = $0.routes.insert(Self.connected("192.168.1.0/24")) }
        let trafficGuard = TrafficGuard(killSwitch, filter: ModelFilter(system: system))
        try trafficGuard.arm(interface: "phtun0")
        let interface = try InterfaceSettings(interface: "phtun0", effects: system, trafficGuard: trafficGuard)
        try interface.admitSockets()
        try interface.apply(first)
        return (system, interface)
    }

    private static func connected(_ prefix: String) -> Route {
        Route(IPPrefix(prefix) ?? .everything(.ipv4), interface: 2, protocolNumber: ProtocolNumber.kernel)
    }

    private static func text(_ system: ModelSystem) -> String {
        system.contents.filter.values.flatMap(\.commands).map(\.description).joined(separator: "\n")
    }

    @Test("a fault at any operation leaves tables, routes and rules as they were", arguments: switches)
    func faults(_ killSwitch: KillSwitch) throws {
        var tried = 0
        for first in Self.sets {
            for second in Self.sets where second.name != first.name {
                let (counting, counted) = try Self.start(killSwitch, first.settings)
                counting.arm(nil, from: 0, through: 0)
                try counted.apply(second.settings)
                for operation in 0..<counting.operations {
                    for fault in ModelSystem.Fault.allCases {
                        let (system, interface) = try Self.start(killSwitch, first.settings)
                        let before = system.contents
                        system.arm(fault, from: operation, through: operation)
                        #expect(throws: SettingsApplyError.self) { try interface.apply(second.settings) }
                        #expect(system.contents == before, "\(first.name) -> \(second.name), \(operation) \(fault)")
                        system.arm(nil, from: 0, through: 0)
                        try interface.apply(second.settings)
                        #expect(system.contents == counting.contents)
                        tried += 1
                    }
                }
            }
        }
        #expect(tried > 100)
    }

    @Test("all networks: the guard holds at every moment from arming to the last step of the end", arguments: [0, 1])
    func alwaysGuarded(_ index: Int) throws {
        for first in Self.sets {
            for second in Self.sets {
                let (system, interface) = try Self.start(Self.switches[index], first.settings)
                system.forgetLog()
                try interface.apply(second.settings)
                #expect(interface.teardown() == [])
                let isGuarded = system.log.map { contents in
                    contents.filter[FilterTableName(.guardian, interface: "phtun0")] != nil
                }
                #expect(isGuarded.dropLast().allSatisfy { $0 } && isGuarded.last == false)
                #expect(system.contents.filter.isEmpty)
            }
        }
    }

    @Test("before there are sockets nothing passes by a mark, afterwards UDP with the tunnel's")
    func mark() throws {
        let system = ModelSystem()
        let trafficGuard = TrafficGuard(Self.switches[0], filter: ModelFilter(system: system))
        try trafficGuard.arm(interface: "phtun0")
        #expect(!Self.text(system).contains(#""key":"mark""#))
        let interface = try InterfaceSettings(interface: "phtun0", effects: system, trafficGuard: trafficGuard)
        try interface.admitSockets()
        #expect(Self.text(system).contains("\(interface.mark)"))
        try trafficGuard.disarm(interface: "phtun0")
        #expect(system.contents.filter.isEmpty)
    }

    @Test("local networks: the connected private ones, but neither public ones nor those with our own address")
    func localNetworks() throws {
        let (system, interface) = try Self.start(Self.switches[1], nil)
        system.change {
            $0.routes.formUnion(["9.9.8.0/21", "10.9.0.0/24", "172.16.4.0/22"].map(Self.connected))
        }
        try interface.apply(settings(["10.9.0.2/32"], include: ["0.0.0.0/0"]))
        let thrown = system.contents.routes.filter { $0.kind == .throw }.map(\.destination.description)
        #expect(Set(thrown) == ["192.168.1.0/24", "172.16.4.0/22"])
        #expect(!Self.text(system).contains("9.9.8.0"))
    }

    @Test("routes only: nothing is guarded without settings, and then exactly what the routes hold")
    func routesOnly() throws {
        let (system, interface) = try Self.start(Self.switches[2], nil)
        #expect(system.contents.filter.isEmpty)
        try interface.apply(settings(["10.9.0.2/32"], include: ["10.0.0.0/8"], exclude: ["10.1.0.0/16"]))
        let table = try #require(system.contents.filter[FilterTableName(.guardian, interface: "phtun0")])
        #expect(
            table.sets.map { $0.ranges.map { "\($0)" } } == [["10.0.0.0...10.0.255.255", "10.2.0.0...10.255.255.255"]])
        #expect(table.chains.allSatisfy { !$0.isDropping })
        try interface.apply(nil)
        #expect(system.contents.filter.isEmpty)
    }

    @Test("names of tables are read back, and others are not ours")
    func names() {
        for interface in ["phtun0", "a", "wg_0=+.-", "...", "abcdefghijklmno"] {
            for family in FilterTableName.Family.allCases {
                for purpose in FilterTableName.Purpose.allCases {
                    let name = FilterTableName(purpose, family, interface: interface)
                    // A table in a family in which we make none of its kind is somebody else's.
                    let expected = purpose.families.contains(family) ? name : nil
                    #expect(FilterTableName(family, text: name.text) == expected)
                }
            }
        }
        for text in [
            "", "filter", "providerhost", "providerhost_guard", "providerhost_guard_", "providerhost_other_phtun0",
            "providerhost_guard_a/", "providerhost_guard_a/3", "providerhost_guard_a/zz", "providerhost_guard_a/3D",
            "providerhost_guard_a=", "providerhost_guard_abcdefghijklmnop",
        ] { #expect(FilterTableName(.inet, text: text) == nil, "\(text)") }
    }

    @Test("texts are escaped in JSON")
    func json() {
        let value: JSONValue = ["b": ["x\"\\\n\u{1f}é", 1, nil], "a": [:]]
        #expect(value.description == #"{"a":{},"b":["x\"\\\u000a\u001fé",1,null]}"#)
    }
}
