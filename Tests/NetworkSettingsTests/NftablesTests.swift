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

    @Test("address translation for a gateway, in a table of its own")
    func masquerade() throws {
        try NetworkNamespace.run {
            let filter = try NftablesProgram()
            let pool = try #require(IPPrefix("10.8.0.0/24"))
            let rule = FilterRule(.source(pool), .leavingBy(["eth0"]), verdict: .masquerade)
            let name = FilterTableName(.masquerade, interface: "phtun0")
            try filter.replace(
                [], with: [FilterTable(name, chains: [.init(.postrouting, kind: .nat, priority: 100, rules: [rule])])])
            #expect(try NetworkNamespace.shell("nft list ruleset").contains("ip saddr 10.8.0.0/24"))
            #expect(try filter.tables() == [name])
        }
    }
}
