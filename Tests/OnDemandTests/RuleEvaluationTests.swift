import OnDemand
import ProviderKit
import Testing

@Suite("Which rule decides")
struct RuleEvaluationTests {
    private func evaluate(
        _ rules: [OnDemandRule], in network: NetworkSnapshot, probes: [String: Bool] = [:]
    ) throws -> RuleEvaluation {
        RuleEvaluation(rules, try #require(network.primary), network, probes: probes)
    }

    private func matches(_ network: NetworkSnapshot, _ change: (inout OnDemandRule) -> Void) throws -> Bool {
        try evaluate([Rules.rule(.connect, change)], in: network) == .match(0)
    }

    @Test("The first that matches, in order; one without a condition always does")
    func order() throws {
        let home = Rules.rule(.disconnect) { $0.ssidMatch = ["home"] }
        #expect(try evaluate([home, Rules.connect], in: Networks.home) == .match(0))
        #expect(try evaluate([home, Rules.connect], in: Networks.train) == .match(1))
        #expect(try evaluate([Rules.connect, home], in: Networks.home) == .match(0))
        #expect(try evaluate([home], in: Networks.office) == .noMatch)
        #expect(try evaluate([], in: Networks.office) == .noMatch)
    }

    @Test("The type of the primary interface")
    func types() throws {
        let networks: [(OnDemandRuleInterfaceType, NetworkSnapshot)] = [
            (.ethernet, Networks.office), (.wiFi, Networks.home), (.cellular, Networks.phone),
        ]
        for (type, network) in networks {
            for (_, other) in networks {
                #expect(try matches(other) { $0.interfaceTypeMatch = type } == (other == network))
            }
            #expect(try matches(network) { $0.interfaceTypeMatch = .any })
        }
    }

    @Test("The name of the Wi-Fi network, byte by byte; a network without a name has none of them")
    func names() throws {
        #expect(try matches(Networks.home) { $0.ssidMatch = ["work", "home"] })
        #expect(try !matches(Networks.home) { $0.ssidMatch = ["Home"] })
        #expect(try !matches(Networks.office) { $0.ssidMatch = [""] })
        #expect(try !matches(Networks.home) { $0.ssidMatch = [] })
    }

    @Test("One search domain of the list, in any case and with or without the dot at its end")
    func searchDomains() throws {
        #expect(try matches(Networks.office) { $0.dnsSearchDomainMatch = ["other.example", "office.example"] })
        #expect(try !matches(Networks.office) { $0.dnsSearchDomainMatch = ["example"] })
        #expect(try !matches(Networks.home) { $0.dnsSearchDomainMatch = ["office.example"] })
    }

    @Test("Every current DNS server must be in the list, and there must be one")
    func servers() throws {
        let two = Networks.snapshot([Networks.interface()], dns: ["192.0.2.53", "192.0.2.54"])
        #expect(try matches(two) { $0.dnsServerAddressMatch = ["192.0.2.54", "192.0.2.53", "192.0.2.55"] })
        #expect(try !matches(two) { $0.dnsServerAddressMatch = ["192.0.2.53"] })
        #expect(try !matches(Networks.phone) { $0.dnsServerAddressMatch = ["192.0.2.53"] })
    }

    @Test("All conditions that are set must hold")
    func conjunction() throws {
        func rule(_ ssid: String, _ server: String) -> OnDemandRule {
            Rules.rule(.connect) {
                $0.interfaceTypeMatch = .wiFi
                $0.ssidMatch = [ssid]
                $0.dnsServerAddressMatch = [server]
            }
        }
        #expect(try evaluate([rule("home", "198.51.100.1")], in: Networks.home) == .match(0))
        #expect(try evaluate([rule("home", "198.51.100.2")], in: Networks.home) == .noMatch)
        #expect(try evaluate([rule("work", "198.51.100.1")], in: Networks.home) == .noMatch)
    }

    @Test("A probe is asked for only once all else of its rule holds, and decides about it alone")
    func probes() throws {
        let url = "http://probe.example/"
        let probed = Rules.rule(.disconnect) {
            $0.ssidMatch = ["home"]
            $0.probeURL = url
        }
        let rules = [probed, Rules.connect]
        #expect(try evaluate(rules, in: Networks.train) == .match(1))
        #expect(try evaluate(rules, in: Networks.home) == .needsProbe(url))
        #expect(try evaluate(rules, in: Networks.home, probes: [url: true]) == .match(0))
        #expect(try evaluate(rules, in: Networks.home, probes: [url: false]) == .match(1))
    }
}
