import ProviderKit
import Testing

@testable import HostRuntime

@Suite("What is probably not meant in on-demand rules")
struct OnDemandCheckTests {
    private func warnings(_ action: OnDemandRuleAction, _ change: (inout OnDemandRule) -> Void) -> [String] {
        var rule = OnDemandRule(action)
        change(&rule)
        return OnDemandCheck.warnings(about: [rule])
    }

    @Test("Rules without a fault are not warned of")
    func clean() {
        let found = warnings(.connect) {
            $0.dnsServerAddressMatch = ["192.0.2.1", "2001:DB8::1"]
            $0.probeURL = "https://probe.example/path?query"
        }
        #expect(found.filter { !$0.contains("not installed") } == [])
    }

    @Test("The order is looked at, as at every save")
    func order() {
        let found = OnDemandCheck.warnings(about: [OnDemandRule(.connect), OnDemandRule(.disconnect)])
        #expect(found.count == 1 && found[0].contains("Put rule 2 before rule 1"))
    }

    @Test(
        "A probe of what is no http or https URL never succeeds",
        arguments: [
            "", "ftp://a.example/", "file:///etc/passwd", "http://", "http:///path", "https://?a", "a.example",
            "http://a.example/\n", "http://a b.example", "-o/tmp/x", "http://\u{e4}.example/",
        ])
    func urls(url: String) {
        #expect(!ReachabilityCheck.isProbeable(url))
        #expect(!ReachabilityCheck.answers(url, interface: "lo"))
        #expect(warnings(.connect) { $0.probeURL = url }.contains { $0.hasPrefix("Rule 1: ") && $0.contains("URL") })
    }

    @Test("An address that is none never matches; one in another spelling does")
    func addresses() {
        #expect(
            warnings(.connect) { $0.dnsServerAddressMatch = ["dns.example"] }.first?.contains("dns.example") == true)
        var rule = OnDemandRule(.connect)
        rule.dnsServerAddressMatch = ["2001:DB8:0:0::1", "192.0.2.1", "dns.example"]
        #expect(rule.canonical.dnsServerAddressMatch == ["2001:db8::1", "192.0.2.1", "dns.example"])
    }

    @Test("Rules that look at hosts do so only when somebody asks")
    func hosts() {
        #expect(warnings(.evaluateConnection) { _ in }.first?.contains("providerhost evaluate NAME HOST") == true)
    }
}
