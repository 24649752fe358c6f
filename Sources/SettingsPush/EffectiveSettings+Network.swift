public import ProviderKit
import WireGuard

extension EffectiveSettings {
    /// Adds what the filter let through to the settings that the provider would have without it.
    ///
    /// - Parameter base: Label, MTU overhead, routing table and the profile's own addresses.
    /// - Returns: The settings as a whole.
    public func networkSettings(addingTo base: PacketTunnelNetworkSettings) -> PacketTunnelNetworkSettings {
        var settings = base
        settings.ipv4Settings = ipv4(base.ipv4Settings)
        settings.ipv6Settings = ipv6(base.ipv6Settings)
        if let dns {
            var wanted = DNSSettings(servers: dns.servers.map(\.description))
            wanted.searchDomains = dns.searchDomains.map(\.text)
            wanted.matchDomains = dns.capturesAll ? [""] : (dns.matchDomains + dns.searchDomains).map(\.text)
            wanted.matchDomainsNoSearch = true
            settings.dnsSettings = wanted
        }
        if let mtu { settings.mtu = mtu }
        return settings
    }

    /// Addresses are those of one host: what is reached through the tunnel is what routes say.
    private func ipv4(_ base: IPv4Settings?) -> IPv4Settings? {
        let own = addresses.map(\.address).filter { $0.bitWidth == 32 }.map(\.description)
        let routed = routes.filter(\.isIPv4) + (blockedFamilies.contains(.ipv4) ? [Self.everything(.v4(0))] : [])
        guard base != nil || !own.isEmpty || !routed.isEmpty else { return nil }
        var settings = base ?? IPv4Settings(addresses: [], subnetMasks: [])
        let fresh = own.filter { !settings.addresses.contains($0) }
        settings.addresses += fresh
        settings.subnetMasks += fresh.map { _ in "255.255.255.255" }
        settings.includedRoutes = routed.map(Self.route4)
        settings.excludedRoutes = excludes.filter(\.isIPv4).map(Self.route4)
        return settings
    }

    private func ipv6(_ base: IPv6Settings?) -> IPv6Settings? {
        let own = addresses.map(\.address).filter { $0.bitWidth == 128 }.map(\.description)
        let routed = routes.filter { !$0.isIPv4 } + (blockedFamilies.contains(.ipv6) ? [Self.everything(.v6(0))] : [])
        guard base != nil || !own.isEmpty || !routed.isEmpty else { return nil }
        var settings = base ?? IPv6Settings(addresses: [], networkPrefixLengths: [])
        let fresh = own.filter { !settings.addresses.contains($0) }
        settings.addresses += fresh
        settings.networkPrefixLengths += fresh.map { _ in 128 }
        settings.includedRoutes = routed.map(Self.route6)
        settings.excludedRoutes = excludes.filter { !$0.isIPv4 }.map(Self.route6)
        return settings
    }

    /// A blocked family goes into the tunnel, where no peer takes it.
    private static func everything(_ zero: IPAddress) -> IPPrefix {
        guard let prefix = IPPrefix(zero, length: 0) else { preconditionFailure("every family has a length of 0") }
        return prefix
    }

    private static func route4(_ prefix: IPPrefix) -> IPv4Route {
        let mask = IPAddress.v4(~(UInt32.max >> prefix.length))
        return IPv4Route(destinationAddress: "\(prefix.address)", subnetMask: "\(mask)")
    }

    private static func route6(_ prefix: IPPrefix) -> IPv6Route {
        IPv6Route(destinationAddress: "\(prefix.address)", networkPrefixLength: prefix.length)
    }
}
