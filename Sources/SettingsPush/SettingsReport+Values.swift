public import ProviderKit
import WireGuard

extension SettingsReport {
    /// The parts of settings, each with where it comes from.
    ///
    /// - Parameters:
    ///   - settings: What is in force.
    ///   - base: What the profile alone gives; nil if all of it is the profile's.
    ///   - snapshot: What was pushed.
    /// - Returns: Every part once, in the order of ``Kind``.
    public static func values(
        of settings: PacketTunnelNetworkSettings, base: PacketTunnelNetworkSettings?, snapshot: Snapshot?
    ) -> [Value] {
        let own = Set(base.map(parts) ?? [])
        let pushed = Set(snapshot.map(parts) ?? [])
        var seen: Set<Part> = []
        return parts(settings).filter { seen.insert($0).inserted }.map { part in
            let origin: Origin = base == nil || own.contains(part) ? .profile : pushed.contains(part) ? .push : .policy
            return Value(part.kind, part.text, origin)
        }
    }

    private struct Part: Hashable {
        let kind: Kind
        let text: String
    }

    private static func parts(_ settings: PacketTunnelNetworkSettings) -> [Part] {
        let (ipv4, ipv6) = (settings.ipv4Settings, settings.ipv6Settings)
        let addresses =
            zip(ipv4?.addresses ?? [], ipv4?.subnetMasks ?? []).map { "\($0)/\(length(ofMask: $1))" }
            + zip(ipv6?.addresses ?? [], ipv6?.networkPrefixLengths ?? []).map { "\($0)/\($1)" }
        let dns = settings.dnsSettings
        let domains = (dns?.matchDomains ?? []).map { $0.isEmpty ? everyName : $0 }
        return [
            (.address, addresses),
            (.route, (ipv4?.includedRoutes ?? []).map(text) + (ipv6?.includedRoutes ?? []).map(text)),
            (.excludedRoute, (ipv4?.excludedRoutes ?? []).map(text) + (ipv6?.excludedRoutes ?? []).map(text)),
            (.server, dns?.servers ?? []), (.searchDomain, dns?.searchDomains ?? []), (.matchDomain, domains),
            (.mtu, settings.mtu.map { ["\($0)"] } ?? []),
        ].flatMap { (kind: Kind, texts: [String]) in texts.map { Part(kind: kind, text: $0) } }
    }

    private static func parts(_ snapshot: Snapshot) -> [Part] {
        let names = (snapshot.dns?.searchDomains ?? []).map(\.text)
        let domains = (snapshot.dns?.matchDomains ?? []).map(\.text) + names
        return [
            // The host is given the address alone, whatever the length of its network.
            (.address, snapshot.addresses.map { "\($0.address)/\($0.address.bitWidth)" }),
            (.route, snapshot.routes.map(\.description)), (.excludedRoute, snapshot.excludes.map(\.description)),
            (.server, (snapshot.dns?.servers ?? []).map { "\($0.address)" }), (.searchDomain, names),
            (.matchDomain, domains + (snapshot.dns?.mode == .full ? [everyName] : [])),
            (.mtu, snapshot.mtu.map { ["\($0)"] } ?? []),
        ].flatMap { (kind: Kind, texts: [String]) in texts.map { Part(kind: kind, text: $0) } }
    }

    private static let everyName = "."

    private static func text(_ route: IPv4Route) -> String {
        "\(route.destinationAddress)/\(length(ofMask: route.destinationSubnetMask))"
    }

    private static func text(_ route: IPv6Route) -> String {
        "\(route.destinationAddress)/\(route.destinationNetworkPrefixLength)"
    }

    private static func length(ofMask text: String) -> Int {
        guard let address = IPAddress(text), case .v4(let mask) = address else { return 0 }
        return (~mask).leadingZeroBitCount
    }
}
