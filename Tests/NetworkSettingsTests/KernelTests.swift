import Foundation
import Netlink
import ProviderKit
import TestSupport
import Testing

@testable import NetworkSettings

/// Against the kernel, each test in a network namespace of its own.
@Suite("Kernel settings", .enabled(if: NetworkNamespace.isAvailable, "needs root: network namespaces"))
struct KernelSettingsTests {
    enum Kind: String, CaseIterable {
        // Up and down once: the first time up gives a link its queueing discipline for good.
        case tun = "ip tuntap add phtun0 mode tun && ip link set phtun0 up && ip link set phtun0 down"
        case veth = "ip link add phtun0 type veth peer name far0 && ip link set far0 up && ip link set phtun0 up"
    }

    /// A namespace with an underlay that has the default route, and an interface of the given kind.
    static func prepare(_ kind: Kind) throws -> SystemEffects {
        for command in [
            "for f in all default; do echo 0 > /proc/sys/net/ipv6/conf/$f/accept_dad; done",
            "ip link set lo up && ip link add eth0 type veth peer name gw0 && ip link set gw0 up && ip link set eth0 up",
            "ip addr add 192.168.1.2/24 dev eth0 && ip route add default via 192.168.1.1",
            "ip addr add 2001:db8::2/64 dev eth0 && ip -6 route add default via 2001:db8::1", kind.rawValue,
        ] { try NetworkNamespace.shell(command) }
        try settle(["eth0", "gw0"] + (kind == .veth ? ["phtun0", "far0"] : []))
        return try SystemEffects()
    }

    /// Waits until the kernel's workers have given every link its link-local address and carrier.
    static func settle(_ names: [String]) throws {
        for _ in 0..<200 {
            let links = try NetworkNamespace.shell("ip -o -6 addr show scope link")
            let states = try NetworkNamespace.shell("ip -o link")
            let isSettled = names.allSatisfy { name in
                links.contains(" \(name) ")
                    && states.split(separator: "\n").contains { $0.contains(" \(name)@") && $0.contains("state UP") }
            }
            if isSettled, !links.contains("tentative") { return }
            usleep(10_000)
        }
        Issue.record("links did not settle in two seconds")
    }

    /// Every entry that stands in only one of two snapshots.
    static func difference(_ before: [String], _ after: [String]) -> [String] {
        zip(before, after).flatMap { before, after -> [String] in
            let (old, new) = (entries(before), entries(after))
            return old.filter { !new.contains($0) }.map { "- " + $0 }
                + new.filter { !old.contains($0) }.map { "+ " + $0 }
        }
    }

    private static func entries(_ text: String) -> [String] {
        guard let list = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [Any] else { return [text] }
        // The kernel's own multicast route comes with a link's first IPv6 address and stays until the link goes down.
        return list.map(normalised).filter { !$0.contains("dst:ff00::/8") }.sorted()
    }

    static func snapshot() throws -> [String] {
        try ["addr", "route show table all", "-6 route show table all", "rule", "-6 rule"].map {
            try NetworkNamespace.shell("ip -j \($0)")
        } + [
            try NetworkNamespace.shell(
                "sysctl net.ipv4.conf.all.src_valid_mark net.ipv4.conf.phtun0.promote_secondaries")
        ]
    }

    /// What differs once the kernel has settled: it takes back what follows from an address in its own time.
    static func settledDifference(_ before: [String]) throws -> [String] {
        let deadline = ContinuousClock.now + .seconds(1)
        while true {
            let difference = difference(before, try snapshot())
            if difference.isEmpty || ContinuousClock.now > deadline { return difference }
            usleep(20_000)
        }
    }

    @Test("any two sets one after the other, then teardown: the system is as before", arguments: Kind.allCases)
    func sequences(_ kind: Kind) throws {
        try NetworkNamespace.run {
            let effects = try Self.prepare(kind)
            let before = try Self.snapshot()
            let interface = try InterfaceSettings(interface: "phtun0", effects: effects)
            for first in UndoTests.sets {
                for second in UndoTests.sets {
                    try interface.apply(first.settings)
                    try interface.apply(second.settings)
                    try interface.apply(nil)
                    let difference = try Self.settledDifference(before)
                    #expect(difference == [], "\(first.name), \(second.name), cleared")
                }
                try interface.apply(first.settings)
                #expect(interface.teardown() == [])
                let difference = try Self.settledDifference(before)
                #expect(difference == [], "\(first.name), torn down")
            }
        }
    }

    @Test("a request that the kernel refuses undoes all that came before", arguments: Kind.allCases)
    func refused(_ kind: Kind) throws {
        try NetworkNamespace.run {
            let effects = try Self.prepare(kind)
            try NetworkNamespace.shell("ip route add 10.77.0.0/16 dev eth0 table 77")
            let interface = try InterfaceSettings(interface: "phtun0", effects: effects)
            for first in UndoTests.sets {
                try interface.apply(first.settings)
                let before = try Self.snapshot()
                let clash = settings(
                    ["10.66.0.2/32", "fd66::2/128"], include: ["10.66.0.0/16", "10.77.0.0/16"], mtu: 1333,
                    routing: .table(77))
                let error = #expect(throws: SettingsApplyError.self) { try interface.apply(clash) }
                #expect(error?.underlying?.kind == .alreadyExists && error?.undoFailures == [])
                let difference = Self.difference(before, try Self.snapshot())
                #expect(difference == [], "\(first.name)")
            }
        }
    }

    /// A JSON value in one order: addresses that were put back may stand in another place.
    static func normalised(_ value: Any) -> String {
        switch value {
        case let list as [Any]: "[" + list.map(normalised).sorted().joined(separator: ",") + "]"
        case let object as [String: Any]:
            "{" + object.map { "\($0):\(normalised($1))" }.sorted().joined(separator: ",") + "}"
        default: "\(value)"
        }
    }

    @Test("the measured table of policy routing: who goes where", arguments: Kind.allCases)
    func decisions(_ kind: Kind) throws {
        try NetworkNamespace.run {
            let effects = try Self.prepare(kind)
            let interface = try InterfaceSettings(interface: "phtun0", effects: effects)
            let result = try interface.apply(
                settings(
                    ["10.9.0.2/32", "fd00::2/128"], include: ["0.0.0.0/0", "::/0"],
                    exclude: ["192.168.1.0/24", "fe80::/10"]))
            #expect(result.mtu == 1420 && result.ruleCount == 6 && result.routeCount == 6)
            let socket = try NetlinkSocket()
            let underlay = try socket.link(named: "eth0").index
            // Routes that an attacker pushes by DHCP into main do not beat the tunnel.
            try NetworkNamespace.shell(
                "ip route add 0.0.0.0/1 via 192.168.1.1; ip route add 8.8.8.0/24 via 192.168.1.1; ip route add 9.9.8.0/21 dev eth0"
            )
            let table: [(String, UInt32?, UInt32?)] = [
                ("8.8.8.8", nil, interface.link.index), ("9.9.9.9", nil, interface.link.index),
                ("1.1.1.1", nil, interface.link.index), ("192.168.1.77", nil, underlay),
                ("8.8.8.8", interface.mark, underlay), ("2620:fe::9", nil, interface.link.index),
                ("2620:fe::9", interface.mark, underlay),
            ]
            for (text, mark, expected) in table {
                let address = try #require(IPAddress(text))
                let route = try socket.route(to: address, mark: mark)
                #expect(route?.interface == expected, "\(text) \(mark ?? 0): \(route.debugDescription)")

            }
            // Without the interface nothing falls back to the underlay, and a marked socket without a route is refused.
            try NetworkNamespace.shell("ip link del phtun0")
            for text in ["8.8.8.8", "2620:fe::9"] {
                #expect(try socket.route(to: try #require(IPAddress(text))) == nil)
            }
            try NetworkNamespace.shell("ip route flush dev eth0; ip -6 route flush dev eth0")
            #expect(try socket.route(to: try #require(IPAddress("8.8.8.8")), mark: interface.mark) == nil)
            #expect(interface.teardown() == [])
            #expect(try NetworkNamespace.shell("ip rule; ip -6 rule").contains("54000") == false)
            #expect(try effects.routes(table: nil).allSatisfy { $0.table < 256 })
        }
    }

    @Test("10,000 routes are applied, exchanged and taken back")
    func manyRoutes() throws {
        try NetworkNamespace.run {
            let effects = try Self.prepare(.tun)
            let before = try Self.snapshot()
            let interface = try InterfaceSettings(interface: "phtun0", effects: effects)
            func many(_ base: Int) -> PacketTunnelNetworkSettings {
                settings(
                    ["10.9.0.2/32", "fd00::2/128"],
                    include: (0..<5000).flatMap { number in
                        [
                            "\(base).\(number >> 8).\(number & 255).0/24",
                            "fd00:\(base):\(String(number, radix: 16))::/48",
                        ]
                    })
            }
            let (first, second) = (many(20), many(30))
            let clock = ContinuousClock()
            let applying = try clock.measure { try interface.apply(first) }
            let exchanging = try clock.measure { try interface.apply(second) }
            let table = interface.slot.table(side: 1)
            #expect(try effects.routes(table: table).count == 10_000)
            #expect(try effects.routes(table: interface.slot.table(side: 0)).isEmpty)
            let clearing = clock.measure { #expect(interface.teardown() == []) }
            let difference = Self.difference(before, try Self.snapshot())
            #expect(difference == [])
            print("10,000 routes: applied \(applying), exchanged \(exchanging), torn down \(clearing)")
            // Times are worth something in a release build on a quiet machine only.
            guard ProcessInfo.processInfo.environment["PROVIDERHOST_MEASURE"] != nil else { return }
            #expect(applying < .milliseconds(500) && exchanging < .milliseconds(500))
        }
    }

    @Test("a fresh process sweeps what a killed one left", arguments: Kind.allCases)
    func sweep(_ kind: Kind) throws {
        try NetworkNamespace.run {
            let effects = try Self.prepare(kind)
            let before = try Self.snapshot()
            for set in UndoTests.sets where set.settings != nil {
                let crashed = try InterfaceSettings(interface: "phtun0", effects: effects)
                try crashed.apply(set.settings)
                let sweep = try SettingsSweep.interface("phtun0", effects)
                #expect(sweep.failures == [])
                _ = try SettingsSweep.everything(effects)
                let after = try Self.snapshot()
                #expect(Array(after[3...4]) == Array(before[3...4]), "rules after \(set.name)")
                let routes = try effects.routes(table: nil)
                #expect(routes.allSatisfy { $0.protocolNumber != 120 && $0.table < 54_000 }, "routes after \(set.name)")
                #expect(try effects.addresses(interface: crashed.link.index).allSatisfy { $0.address.isLinkLocal })
            }
        }
    }

    @Test("IPv6 switched off: IPv4 settings work, IPv6 settings say so and change nothing", arguments: Kind.allCases)
    func withoutIPv6(_ kind: Kind) throws {
        try NetworkNamespace.run {
            let effects = try Self.prepare(kind)
            try NetworkNamespace.shell("echo 1 > /proc/sys/net/ipv6/conf/phtun0/disable_ipv6")
            let interface = try InterfaceSettings(interface: "phtun0", effects: effects)
            try interface.apply(settings(["10.9.0.2/32"], include: ["0.0.0.0/0"]))
            let before = try Self.snapshot()
            let error = #expect(throws: SettingsApplyError.self) {
                try interface.apply(settings(["10.9.0.2/32", "fd00::2/128"], include: ["0.0.0.0/0", "::/0"]))
            }
            #expect(error?.underlying?.kind == .ipv6Unavailable && error?.cause.contains("IPv6") == true)
            let difference = Self.difference(before, try Self.snapshot())
            #expect(difference == [])
        }
    }

    @Test("an interface that does not exist is named")
    func missingInterface() throws {
        try NetworkNamespace.run {
            let effects = try SystemEffects()
            let error = #expect(throws: SettingsApplyError.self) {
                try InterfaceSettings(interface: "phtun9", effects: effects)
            }
            #expect(error?.cause.contains("phtun9") == true && error?.underlying?.kind == .noSuchInterface)
        }
    }
}
