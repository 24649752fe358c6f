import ProviderKit
import SettingsPush
import Testing
import WireGuard

@testable import ProviderHost

/// The texts of `settings show`, `diff` and `why`.
@Suite("Verbs about settings")
struct SettingsVerbsTests {
    private func tunnel() throws -> TunnelSettings {
        var report = SettingsReport(source: .push)
        report.file = "office.conf"
        report.gateway = "192.0.2.1:51820"
        report.serial = 7
        report.values = [
            .init(.address, "10.7.0.2/32", .push), .init(.route, "10.20.0.0/16", .push),
            .init(.route, "10.9.0.0/16", .profile), .init(.mtu, "1380", .policy),
        ]
        let routes = try ["10.20.0.0/16", "0.0.0.0/0"].map { try #require(IPPrefix($0)) }
        let snapshot = try Snapshot(addresses: [], routes: routes, excludes: [], dns: nil, mtu: 9000, notice: nil)
        var context = PolicyContext(ceiling: try ["0.0.0.0/0"].map { try #require(IPPrefix($0)) })
        context.largestMTU = 1380
        let outcome = PolicyFilter(policy: PushPolicy(), context: context).filter(snapshot)
        report.offer = SettingsReport.Offer(serial: 8, decisions: outcome.decisions)
        report.failure = SettingsReport.Failure(
            serial: 8, status: .failed, findings: [SettingsFinding(.applyFailed)])
        report.shortfalls = [
            SettingsShortfall(part: "serial 8", cause: "The kernel refused a route.", remedy: "Enable IPv6.")
        ]
        let reply = Array((report.text + "errno=0\n\n").utf8)
        return try TunnelSettings(name: "phtun0", reply: reply)
    }

    @Test("show tells each value with where it comes from, and what the machine falls short of")
    func show() throws {
        #expect(
            SettingsShowVerb.text(try tunnel()) == """
                phtun0: settings push, gateway 192.0.2.1:51820
                  Address        10.7.0.2/32   gateway 192.0.2.1:51820, serial 7
                  Route          10.20.0.0/16  gateway 192.0.2.1:51820, serial 7
                  Route          10.9.0.0/16   office.conf
                  MTU            1380          policy of office.conf for gateway 192.0.2.1:51820, serial 7
                  ! serial 8: The kernel refused a route. Enable IPv6.
                """)
        #expect(ShownSettings(try tunnel()).shortfalls.map(\.remedy) == ["Enable IPv6."])
    }

    @Test("diff tells what was taken, changed and refused, and how an offer failed as a whole")
    func diff() throws {
        let lines = SettingsDiffVerb.text(try tunnel()).split(separator: "\n").map(String.init)
        #expect(lines[0] == "phtun0: gateway 192.0.2.1:51820 offered serial 8, serial 7 is in force")
        #expect(lines[1] == "  ! Serial 8 is not in force, it was failed: the client's system refused it")
        #expect(lines.contains("  = Route 10.20.0.0/16"))
        #expect(lines.contains { $0.hasPrefix("  - Route 0.0.0.0/0") && $0.contains("acceptDefaultRoute = true") })
        #expect(lines.contains { $0.hasPrefix("  ~ MTU 9000") && $0.contains("(1380)") })
        #expect(lines.last == "  + Route 10.9.0.0/16, of office.conf")
        let alone = try TunnelSettings(name: "wg9", reply: Array("settings_source=static\nerrno=0\n\n".utf8))
        #expect(SettingsDiffVerb.text(alone).contains("the profile alone decides"))
    }

    @Test("why takes a network, an address or a name")
    func questions() throws {
        for text in ["10.0.0.0/8", "10.1.2.3", "fd00::/8", "host.example"] {
            _ = try SettingsWhyVerb.Question(text)
        }
        for text in ["10.0.0.0/33", "a b", "-x", "\u{1b}[2J"] {
            #expect(throws: UsageError.self) { try SettingsWhyVerb.Question(text) }
        }
    }

    @Test("Replies of others, and of tunnels that keep no settings, are errors of their own")
    func replies() {
        let wrong: [(String, TunnelsErrorCode)] = [
            ("errno=95\n\n", .notTold), ("errno=22\n\n", .noAnswer), ("", .noAnswer),
            ("settings_source=pull\nerrno=0\n\n", .noAnswer), ("settings_source=push\n", .noAnswer),
        ]
        for (reply, code) in wrong {
            let error = #expect(throws: TunnelsError.self) { try TunnelSettings(name: "wg9", reply: Array(reply.utf8)) }
            #expect(error?.code == code)
        }
    }
}
