import Foundation
import Netlink
import ProviderKit
import TestSupport
import Testing

@testable import NetworkSettings

/// Against the real nft, each test in a network namespace of its own.
@Suite("nftables", .enabled(if: NetworkNamespace.isAvailable, "needs root: network namespaces"))
struct NftablesTests {
    private static let switches = [
        KillSwitch(.everything, excludesLocalNetworks: true), KillSwitch(.routes, excludesLocalNetworks: true),
    ]

    private static func circumstances() throws -> KillSwitch.Circumstances {
        KillSwitch.Circumstances(
            interface: "wg_0=+.-", mark: 0x7068_0007,
            desired: try DesiredState(
                settings(
                    ["10.9.0.2/24", "fd00::2/64"], include: ["0.0.0.0/0", "::/0"],
                    exclude: ["10.1.0.0/16", "fd01::/16"],
                    dns: DNSSettings(servers: ["192.168.1.53", "10.9.0.1"]))),
            localNetworks: ["192.168.1.0/24", "fd05::/64"].compactMap { IPPrefix($0) })
    }

    @Test("every table is accepted, listed, replaced by itself and removed; those of others stay", arguments: switches)
    func tables(_ killSwitch: KillSwitch) throws {
        let now = try Self.circumstances()
        try NetworkNamespace.run {
            try NetworkNamespace.shell("nft add table inet other; nft add table ip providerhost_guard_x")
            let before = try NetworkNamespace.shell("nft list ruleset")
            let filter = try NftablesProgram()
            let tables = killSwitch.tables(now)
            try filter.replace([], with: tables)
            #expect(try Set(filter.tables()) == Set(tables.map(\.name)))
            let first = try NetworkNamespace.shell("nft list ruleset")
            for expected in ["192.168.1.0/24", "10.9.0.2", "fd00::2", "oifname", "0x70680007"] {
                #expect(first.contains(expected), "\(expected)")
            }
            try filter.replace(tables.map(\.name), with: tables)
            #expect(try NetworkNamespace.shell("nft list ruleset") == first)
            try filter.replace(KillSwitch.names(now.interface), with: [])
            #expect(try NetworkNamespace.shell("nft list ruleset") == before)
            #expect(try filter.tables().isEmpty)
        }
    }

    @Test("a replacement that nft refuses leaves the old table in force")
    func refused() throws {
        let now = try Self.circumstances()
        try NetworkNamespace.run {
            let filter = try NftablesProgram()
            let tables = Self.switches[0].tables(now)
            try filter.replace([], with: tables)
            let before = try NetworkNamespace.shell("nft list ruleset")
            var broken = try #require(tables.first)
            broken.chains[0].rules.append(FilterRule(.destinationInSet("missing", .ipv4), verdict: .drop))
            let error = #expect(throws: FilterError.self) { try filter.replace(tables.map(\.name), with: [broken]) }
            #expect(error?.code == .refused && error?.cause.contains("nft") == true)
            #expect(try NetworkNamespace.shell("nft list ruleset") == before)
        }
    }

    @Test("address translation for gateways: tables, switches, and what there was before")
    func masquerade() throws {
        try NetworkNamespace.run {
            let filter = try NftablesProgram()
            let effects = try SystemEffects()
            func state() throws -> String {
                try NetworkNamespace.shell(
                    "nft list ruleset; cat /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv6/conf/all/forwarding")
            }
            try NetworkNamespace.shell("echo 0 >/proc/sys/net/ipv4/ip_forward; nft add table ip other")
            let before = try state()
            var first = Masquerade(interface: "phgw0", filter: filter, effects: effects)
            var second = Masquerade(interface: "phgw1", filter: filter, effects: effects)
            #expect(try first.begin([.ipv4, .ipv6]).isEmpty)
            #expect(try second.begin([.ipv4]).isEmpty)
            let both = try state()
            #expect(both.contains("masquerade") && both.contains("policy drop") && both.hasSuffix("1\n1\n"), "\(both)")
            #expect(try !first.restore())
            try NetworkNamespace.shell("nft delete table inet providerhost_masquerade_phgw0")
            #expect(try first.restore())
            // Tables are listed in the order in which they were made.
            #expect(try Set(state().split(separator: "\n")) == Set(both.split(separator: "\n")))
            try first.end()
            let one = try state()
            #expect(one.hasSuffix("1\n1\n") && !one.contains("phgw0"), "\(one)")
            try second.end()
            #expect(try state() == before)
        }
    }

    @Test("marks of replies: the real nft takes the table, and lists it whole", arguments: [false, true])
    func replyMarks(_ answersOutside: Bool) throws {
        let desired = try #require(Self.circumstances().desired)
        try NetworkNamespace.run {
            let filter = try NftablesProgram()
            let table = ReplyMarks.table("phtun0", mark: 0x7068_0007, desired, answersOutside: answersOutside)
            try filter.replace([], with: [table])
            #expect(filter.holds(table))
            #expect(try filter.tables() == [table.name])
            let listing = try NetworkNamespace.shell("nft list ruleset")
            #expect(listing.contains("type route hook output priority mangle"), "\(listing)")
            #expect(listing.contains("ct direction original") == answersOutside, "\(listing)")
            #expect(listing.contains("ct mark 0x70680007 meta mark set 0x70680007"), "\(listing)")
        }
    }
}
