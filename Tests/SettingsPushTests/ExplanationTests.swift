import ProviderKit
import Testing
import WireGuard

@testable import SettingsPush

@Suite("Explanations")
struct ExplanationTests {
    private func explainer(_ adjust: (inout PushPolicy) -> Void = { _ in }) throws -> SettingsExplainer {
        SettingsExplainer(try report(adjust))
    }

    /// What a client tells that has the policy of `adjust` and was offered a little of everything.
    private func report(_ adjust: (inout PushPolicy) -> Void = { _ in }) throws -> SettingsReport {
        let outcome = try outcome(adjust)
        var report = SettingsReport(source: .push)
        report.gateway = "office"
        report.serial = 7
        report.file = "office.conf"
        report.lines = ["acceptDNS": 3]
        report.offer = SettingsReport.Offer(serial: 7, decisions: outcome.decisions)
        var base = PacketTunnelNetworkSettings(tunnelRemoteAddress: "office")
        base.ipv4Settings = IPv4Settings(addresses: ["10.9.9.9"], subnetMasks: ["255.255.255.0"])
        base.ipv4Settings?.includedRoutes = [IPv4Route(destinationAddress: "198.18.0.0", subnetMask: "255.254.0.0")]
        var settings = outcome.settings.networkSettings(addingTo: base)
        settings.ipv4Settings?.includedRoutes?.append(contentsOf: base.ipv4Settings?.includedRoutes ?? [])
        report.values = SettingsReport.values(of: settings, base: base, snapshot: outcome.snapshot)
        return report
    }

    private func outcome(_ adjust: (inout PushPolicy) -> Void = { _ in }) throws -> FilterOutcome {
        var policy = PushPolicy()
        adjust(&policy)
        let snapshot = try Snapshot(
            addresses: [Examples.assigned("10.66.0.2/32")],
            routes: Examples.prefixes("0.0.0.0/0", "10.0.0.0/8", "172.16.0.0/12"), excludes: [],
            dns: DNSOffer(
                mode: .full, servers: [DNSServer(address: Examples.address("10.0.0.1"))], searchDomains: [],
                matchDomains: [Examples.name("corp.example")]), mtu: nil, notice: nil)
        let context = PolicyContext(ceiling: try Examples.prefixes("0.0.0.0/0"))
        return PolicyFilter(policy: policy, context: context).filter(snapshot)
    }

    @Test("say who offered a network, what refused it, and which line would allow it")
    func refusedRoute() throws {
        let answers = try explainer().why(try #require(IPPrefix("8.8.8.0/24")))
        #expect(
            answers.map(\.description) == [
                "Route 0.0.0.0/0, offered by gateway office, serial 7, is a default route, or part of a set that amounts to one. "
                    + "The profile's line acceptDefaultRoute = true would allow it."
            ])
    }

    @Test("say that a network is accepted")
    func accepted() throws {
        let answers = try explainer { $0.acceptDefaultRoute = true }.why(try #require(IPPrefix("172.16.3.0/24")))
        #expect(answers.map(\.reason) == [.accepted, .accepted])
        #expect(answers.map(\.remedy) == [nil, nil])
    }

    @Test("say that nobody offered a network or a name, and where it would be")
    func notOffered() throws {
        var report = SettingsReport(source: .push)
        report.gateway = "office"
        report.offer = SettingsReport.Offer(serial: 3, decisions: [])
        let explainer = SettingsExplainer(report)
        let network = explainer.why(try #require(IPPrefix("10.0.0.0/8")))
        #expect(network.map(\.offeredBy) == [nil])
        #expect(network[0].description.contains("`providerhost gateway route add 10.0.0.0/8`"))
        #expect(explainer.why(try Examples.name("a.example"))[0].reason == nil)
        report.offer = nil
        let silent = SettingsExplainer(report).why(try #require(IPPrefix("10.0.0.0/8")))
        #expect(silent[0].description.contains("has offered nothing so far"))
        let alone = SettingsExplainer(SettingsReport(source: .static)).why(try #require(IPPrefix("10.0.0.0/8")))
        #expect(alone[0].description.contains("no gateway decides") && !alone[0].description.contains("gateway route"))
    }

    @Test("say what the profile itself has, and which line of it decided about an offer")
    func places() throws {
        let own = try explainer().why(try #require(IPPrefix("198.18.5.0/24")))
        #expect(own.first?.description == "Route 198.18.0.0/15, offered by the profile, is accepted.")
        let names = try explainer().why(try Examples.name("elsewhere.example"))
        let place = names.first { $0.reason == .dnsCaptureNotAllowed }?.place
        #expect(place?.key == "acceptDNS" && place?.line == 3 && place?.file == "office.conf")
        #expect(names[0].description.hasSuffix("The line acceptDNS is now line 3 of office.conf."))
        #expect(try explainer().all.first { $0.reason == .defaultRoute }?.place?.line == nil, "not in the file")
    }

    @Test("say what becomes of a name")
    func names() throws {
        let answers = try explainer().why(try Examples.name("host.corp.example"))
        #expect(answers.map(\.subject) == ["Domain corp.example", "All names", "DNS server 10.0.0.1"])
        #expect(answers.map(\.reason) == [.accepted, .dnsCaptureNotAllowed, .accepted])
        #expect(answers[1].remedy?.contains("acceptDNS = full") == true)
    }

    @Test("know every reason that the filter gives")
    func texts() {
        for raw in UInt16(0)...999 {
            let reason = ReasonCode(rawValue: raw)
            let isKnown = !reason.name.hasPrefix("reason-")
            #expect(isKnown == !reason.explanation.contains("does not know (\(raw))"))
            #expect(isKnown || reason.effect == .refused)
        }
        #expect(ReasonCode.localNetwork.name == "localNetwork")
    }

    @Test("belong to lines that a profile can have")
    func lines() throws {
        let policy = try PushPolicy([
            "settingsSource": "pushRequired", "acceptDefaultRoute": true, "maxRoutes": 50,
            "acceptRoutes": .array(["10.0.0.0/8", "fd00::/8"]), "denyRoutes": "10.1.0.0/16, 10.2.0.0/16",
            "acceptDNS": "full", "mtuRange": "1280-1420", "onLeaseExpiry": "withdraw",
            "allowedDNSZones": "corp.example",
            "acceptSearchDomains": "yes", "maxChangesPerMinute": 60, "other": 7,
        ])
        #expect(policy.source == .pushRequired && policy.acceptDefaultRoute && policy.maxRoutes == 50)
        #expect(policy.acceptRoutes?.count == 2 && policy.denyRoutes.count == 2 && policy.acceptDNS == .full)
        #expect(policy.mtuRange == 1280...1420 && policy.onLeaseExpiry == .withdraw && policy.acceptSearchDomains)
        #expect(policy.allowedDNSZones?.map(\.text) == ["corp.example"] && policy.maxChangesPerMinute == 60)
    }

    @Test(
        "name the line that cannot be used, and what it may be",
        arguments: [
            ("settingsSource", "pull"), ("acceptDefaultRoute", "1"), ("acceptRoutes", "10.0.0.0/33"),
            ("maxRoutes", "+5"),
            ("maxRoutes", "16385"), ("mtuRange", "1420-1280"), ("mtuRange", "68-1420"), ("allowedDNSZones", "a_b"),
            ("acceptDNS", "\u{1b}[2J"), ("maxChangesPerMinute", "0"), ("maxChangesPerMinute", "61"),
        ])
    func wrongLines(key: String, value: String) throws {
        var policy = PushPolicy()
        do throws(PolicyLineError) {
            try policy.set(key, to: value)
            Issue.record("\(value) was taken")
        } catch {
            #expect(error.key == key && error.cause.contains(key) && !error.remedy.isEmpty)
            #expect(!error.cause.contains("\u{1b}"))
        }
        #expect(policy == PushPolicy())
    }

    @Test("match the settings that the host is given")
    func networkSettings() throws {
        let outcome = try outcome {
            $0.acceptDefaultRoute = true; $0.acceptDNS = .full
        }
        var base = PacketTunnelNetworkSettings(tunnelRemoteAddress: "gateway")
        base.ipv4Settings = IPv4Settings(addresses: ["10.9.9.9"], subnetMasks: ["255.255.255.0"])
        let settings = outcome.settings.networkSettings(addingTo: base)
        #expect(settings.ipv4Settings?.addresses == ["10.9.9.9", "10.66.0.2"])
        #expect(settings.ipv4Settings?.subnetMasks == ["255.255.255.0", "255.255.255.255"])
        #expect(settings.ipv4Settings?.includedRoutes?.first == .default())
        #expect(settings.ipv6Settings?.includedRoutes == [.default()], "a blocked family ends in the tunnel")
        #expect(settings.dnsSettings?.matchDomains == [""])
        #expect(settings.dnsSettings?.servers == ["10.0.0.1"])
    }
}
