internal import Control
internal import Netlink
internal import NetworkSettings
public import ProviderKit

/// What of on-demand rules is probably not meant, or without effect on this machine.
public enum OnDemandCheck {
    /// Warnings, each with the number of a rule and what to do.
    public static func warnings(about rules: [OnDemandRule]) -> [String] {
        let single = rules.enumerated().flatMap { index, rule in
            warnings(about: rule).map { "Rule \(index + 1): \($0)" }
        }
        let needsProgram = rules.contains {
            $0.probeURL != nil || $0.connectionRules?.contains { $0.probeURL != nil } == true
        }
        let hasProgram = SystemProgram(named: ReachabilityCheck.program) != nil
        return OnDemandOrder.warnings(about: rules) + single
            + (needsProgram && !hasProgram
                ? [
                    "URLs are asked for by the program \(ReachabilityCheck.program), which is not installed: no probe succeeds. "
                        + "Install it."
                ] : [])
    }

    private static func warnings(about rule: OnDemandRule) -> [String] {
        let connectionRules = rule.connectionRules ?? []
        let urls = ([rule.probeURL] + connectionRules.map(\.probeURL)).compactMap(\.self)
        let addresses = (rule.dnsServerAddressMatch ?? []) + connectionRules.flatMap { $0.useDNSServers ?? [] }
        var warnings = urls.filter { !ReachabilityCheck.isProbeable($0) }.map {
            "`\($0.printable)` is no http or https URL, so that its probe never succeeds. Correct it."
        }
        warnings += addresses.filter { IPAddress($0) == nil }.map {
            "`\($0.printable)` is no address of a DNS server, so that it never matches. Correct it."
        }
        if rule.action == .evaluateConnection {
            warnings.append(
                "Linux tells nobody of a connection before it is made, so that hosts are looked at only when a program asks: "
                    + "`providerhost evaluate NAME HOST`, or the method EvaluateConnection.")
        }
        return warnings
    }
}

extension OnDemandRule {
    /// The rule with its addresses in the spelling that the current servers have.
    var canonical: OnDemandRule {
        var rule = self
        rule.dnsServerAddressMatch = dnsServerAddressMatch?.map { IPAddress($0)?.description ?? $0 }
        return rule
    }
}
