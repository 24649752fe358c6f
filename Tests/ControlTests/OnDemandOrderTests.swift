import ProviderKit
import Testing

@testable import Control

@Suite("The order of on-demand rules")
struct OnDemandOrderTests {
    @Test("Connect anywhere ahead of a disconnect is warned of, with both rules and the fix")
    func connectAnywhere() throws {
        var wiFi = OnDemandRule(.disconnect, interfaceTypeMatch: .wiFi)
        wiFi.ssidMatch = ["office"]
        let rules = [OnDemandRule(.ignore, interfaceTypeMatch: .cellular), OnDemandRule(.connect), wiFi]
        let warning = try #require(OnDemandOrder.warnings(about: rules).first)
        #expect(warning.contains("Rule 2 (connect anywhere)") && warning.contains("Put rule 3 before rule 2"))
        #expect(OnDemandOrder.warnings(about: [rules[0], wiFi, rules[1]]).isEmpty)
    }

    @Test("Any rule without a condition hides what stands behind it")
    func hidden() {
        let last = OnDemandRule(.connect, interfaceTypeMatch: .wiFi)
        #expect(OnDemandOrder.warnings(about: [OnDemandRule(.ignore), last]).first?.contains("rule 2 never") == true)
        #expect(OnDemandOrder.warnings(about: [last, OnDemandRule(.ignore)]).isEmpty)
        #expect(OnDemandOrder.warnings(about: []).isEmpty)
    }
}
