internal import ProviderKit

extension OnDemandRule {
    /// Whether every condition but the probe holds.
    ///
    /// - Parameters:
    ///   - primary: The interface that leads out of the machine.
    ///   - snapshot: The network around it.
    /// - Returns: True where no condition is set.
    func matches(_ primary: NetworkInterface, _ snapshot: NetworkSnapshot) -> Bool {
        interfaceTypeMatch.matches(primary.kind) && matchesSSID(of: primary)
            && matchesSearchDomains(snapshot.searchDomains) && matchesServers(snapshot.dnsServers)
    }

    /// A network without a name, as every one but Wi-Fi, matches no list of names.
    private func matchesSSID(of primary: NetworkInterface) -> Bool {
        guard let ssidMatch else { return true }
        return primary.ssid.map(ssidMatch.contains) ?? false
    }

    /// One of the current domains must be in the list.
    private func matchesSearchDomains(_ current: [String]) -> Bool {
        guard let dnsSearchDomainMatch else { return true }
        let wanted = Set(dnsSearchDomainMatch.map(HostName.canonical))
        return current.contains { wanted.contains(HostName.canonical($0)) }
    }

    /// Every current server must be in the list, and there must be one.
    private func matchesServers(_ current: [String]) -> Bool {
        guard let dnsServerAddressMatch else { return true }
        return !current.isEmpty && current.allSatisfy(dnsServerAddressMatch.contains)
    }
}

extension OnDemandRuleInterfaceType {
    fileprivate func matches(_ kind: NetworkInterface.Kind) -> Bool {
        switch self {
        case .any: true
        case .ethernet: kind == .ethernet
        case .wiFi: kind == .wiFi
        case .cellular: kind == .cellular
        }
    }
}

/// Host and domain names, which are compared without regard to case and the dot at their end (RFC 4343).
enum HostName {
    static func canonical(_ name: String) -> String {
        let lower = name.lowercased()
        return lower.hasSuffix(".") ? String(lower.dropLast()) : lower
    }

    /// Whether `name` is `domain` or below it: labels are never cut.
    static func isWithin(_ name: String, domain: String) -> Bool {
        let (name, domain) = (canonical(name), canonical(domain))
        return !domain.isEmpty && (name == domain || name.hasSuffix("." + domain))
    }
}
