import ProviderKit
import Testing
import WireGuard

@testable import SettingsPush

@Suite("Reports on settings")
struct ReportTests {
    /// A report with every kind of line in it.
    private func example() throws -> SettingsReport {
        var policy = PushPolicy()
        policy.denyRoutes = try Examples.prefixes("172.16.5.0/24")
        policy.mtuRange = 1280...1300
        var context = PolicyContext(ceiling: try Examples.prefixes("0.0.0.0/0", "fd00::/8"))
        context.connectedNetworks = [
            PolicyContext.ConnectedNetwork(interface: "eth0", prefix: try #require(IPPrefix("10.1.0.0/16")))
        ]
        let snapshot = try Examples.snapshot()
        let outcome = PolicyFilter(policy: policy, context: context).filter(snapshot)
        var report = SettingsReport(source: .pushRequired)
        report.file = "/etc/vpn/a file.conf"
        report.lines = ["denyRoutes": 4, Decision.ceilingKey: 12]
        report.gateway = "192.0.2.1:51820"
        report.serial = 7
        let base = PacketTunnelNetworkSettings(tunnelRemoteAddress: "")
        report.values = SettingsReport.values(
            of: outcome.settings.networkSettings(addingTo: base), base: base, snapshot: snapshot)
        report.offer = SettingsReport.Offer(
            serial: 8,
            decisions: outcome.decisions + [
                Decision(
                    finding: SettingsFinding(section: 0x0077, index: 0, reason: .unknownIgnored),
                    subject: .section(0x77),
                    detail: nil),
                Decision(
                    finding: SettingsFinding(section: 0x0010, index: 0, reason: .dnsCaptureNotAllowed),
                    subject: .allNames, detail: nil),
            ])
        report.failure = SettingsReport.Failure(
            serial: 9, status: .rejected,
            findings: [SettingsFinding(section: 0x8002, index: 3, reason: .unsorted)])
        report.shortfalls = [
            SettingsShortfall(part: "dnsSettings", cause: "Not applied: no back end.", remedy: "Name one with --dns."),
            SettingsShortfall(part: "serial 8", cause: "The way out is too narrow.", remedy: ""),
        ]
        return report
    }

    @Test("tell of each value where it comes from")
    func origins() throws {
        let report = try example()
        func origin(_ text: String) -> SettingsReport.Origin? { report.values.first { $0.text == text }?.origin }
        #expect(origin("10.66.0.2/32") == .push && origin("fd66::2/128") == .push)
        #expect(origin("172.16.0.0/12") == .push && origin("10.1.2.0/24") == .push && origin("10.66.0.1") == .push)
        #expect(origin("172.16.5.0/24") == .policy && origin("10.1.0.0/16") == .policy && origin("1300") == .policy)
        #expect(!report.values.contains { $0.origin == .profile })
        var base = PacketTunnelNetworkSettings(tunnelRemoteAddress: "")
        base.mtu = 1420
        base.dnsSettings = DNSSettings(servers: ["10.0.0.1"])
        base.dnsSettings?.matchDomains = [""]
        #expect(
            SettingsReport.values(of: base, base: nil, snapshot: nil) == [
                .init(.server, "10.0.0.1", .profile), .init(.matchDomain, ".", .profile), .init(.mtu, "1420", .profile),
            ])
    }

    @Test("come back from their lines as they were")
    func roundTrip() throws {
        let report = try example()
        let again = try #require(SettingsReport(text: report.text))
        // Refusals come first, in their order.
        let decisions = report.offer?.decisions ?? []
        var expected = report
        expected.offer?.decisions =
            decisions.filter { $0.reason.effect != .accepted } + decisions.filter { $0.reason.effect == .accepted }
        #expect(again == expected)
        #expect(SettingsReport(text: again.text) == again)
    }

    @Test("of every size fit into a message, and say what they leave out")
    func size() throws {
        let snapshot = try Examples.snapshot(routes: 16_000)
        var policy = PushPolicy()
        policy.maxRoutes = 16_000
        let context = PolicyContext(ceiling: try Examples.prefixes("0.0.0.0/0"))
        let outcome = PolicyFilter(policy: policy, context: context).filter(snapshot)
        var report = SettingsReport(source: .push)
        report.offer = SettingsReport.Offer(serial: 1, decisions: outcome.decisions)
        let base = PacketTunnelNetworkSettings(tunnelRemoteAddress: "")
        report.values = SettingsReport.values(
            of: outcome.settings.networkSettings(addingTo: base), base: base, snapshot: snapshot)
        let text = report.text
        #expect(text.utf8.count <= SettingsReport.sizeLimit)
        let again = try #require(SettingsReport(text: text))
        #expect(again.leftOut > 0)
        #expect(
            again.leftOut + again.values.count + (again.offer?.decisions.count ?? 0) == report.values.count
                + outcome.decisions.count)
    }

    @Test("hold nothing that a terminal or a reader of lines could take for more than text")
    func hostileTexts() throws {
        var report = try example()
        report.gateway = "a\nserial=99\u{1b}[2J\u{202E}"
        report.file = "x\r\noffer=1"
        report.shortfalls = [SettingsShortfall(part: "mtu", cause: "a\nserial=98", remedy: "\u{1b}[2J")]
        let again = try #require(SettingsReport(text: report.text))
        #expect(again.serial == 7 && again.offer?.serial == 8)
        #expect(again.gateway == "a?serial=99?[2J?" && again.file == "x??offer=1")
        #expect(again.shortfalls.map(\.description) == ["mtu: a?serial=98 ?[2J"])
    }

    @Test(
        "are not read from other lines",
        arguments: [
            "", "serial=1\n", "settings_source=pull\n", "settings_source=push\nserial=-1\n",
            "settings_source=push\ndecision=1 2 3 route 10.0.0.0/8\n", "settings_source=push\nfinding=1 2 3\n",
            "settings_source=push\noffer=1\ndecision=1 2 3 route 10.0.0.0/33\n",
            "settings_source=push\noffer=1\ndecision=1 2 70000 route 10.0.0.0/8\n",
            "settings_source=push\nvalue=push route\n", "settings_source=push\nvalue=nobody route 10.0.0.0/8\n",
            "settings_source=push\nfailure=1 9\n", "settings_source=push\npolicy_line=a 0\n",
            "settings_source=push\ncause=x\n", "settings_source=push\nremedy=x\n",
            "settings_source=push\ngateway=\u{1b}[2J\n", "settings_source=push\nx\n",
        ])
    func wrongLines(text: String) { #expect(SettingsReport(text: text) == nil) }

    @Test("of a later version are read as far as they are known")
    func laterVersion() {
        #expect(SettingsReport(text: "settings_source=push\ncolour=blue\nserial=3\n")?.serial == 3)
    }
}
