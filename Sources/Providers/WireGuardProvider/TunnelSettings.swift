import ProviderKit
import WireGuard

/// What a wg-quick file asks of the network, as the settings that the host applies.
package enum TunnelSettings {
    /// The room that the outer headers take of the underlay's MTU: IPv6 40, UDP 8, WireGuard 32 (wg-quick(8) `MTU`).
    package static let overhead = 80

    /// Translates `[Interface]` and the peers' allowed IPs.
    ///
    /// - Parameters:
    ///   - configuration: The parsed file.
    ///   - remoteAddress: A label for the server: the first peer's endpoint.
    /// - Returns: The settings as a whole.
    static func make(from configuration: Configuration, remoteAddress: String) -> PacketTunnelNetworkSettings {
        make(from: configuration, peers: configuration.peers, remoteAddress: remoteAddress)
    }

    /// Translates `[Interface]` and the allowed IPs of some of the peers.
    static func make(
        from configuration: Configuration, peers: [Configuration.Peer], remoteAddress: String
    ) -> PacketTunnelNetworkSettings {
        let interface = configuration.interface
        var settings = PacketTunnelNetworkSettings(tunnelRemoteAddress: remoteAddress)
        settings.mtu = interface.mtu
        settings.tunnelOverheadBytes = overhead
        settings.routing =
            switch interface.table {
            case .off: .off
            case .automatic: .automatic
            case .number(let table): .table(table)
            }

        let prefixes = Set(peers.flatMap(\.allowedIPs))
        let routes4 = prefixes.compactMap(\.ipv4Route).sorted { $0.destinationAddress < $1.destinationAddress }
        let routes6 = prefixes.compactMap(\.ipv6Route).sorted { $0.destinationAddress < $1.destinationAddress }
        let addresses4 = interface.addresses.filter(\.address.isIPv4)
        let addresses6 = interface.addresses.filter { !$0.address.isIPv4 }
        if !addresses4.isEmpty || !routes4.isEmpty {
            var ipv4 = IPv4Settings(
                addresses: addresses4.map { "\($0.address)" }, subnetMasks: addresses4.map { mask($0.prefixLength) })
            ipv4.includedRoutes = routes4
            settings.ipv4Settings = ipv4
        }
        if !addresses6.isEmpty || !routes6.isEmpty {
            var ipv6 = IPv6Settings(
                addresses: addresses6.map { "\($0.address)" }, networkPrefixLengths: addresses6.map(\.prefixLength))
            ipv6.includedRoutes = routes6
            settings.ipv6Settings = ipv6
        }
        if !interface.dnsServers.isEmpty || !interface.searchDomains.isEmpty {
            var dns = DNSSettings(servers: interface.dnsServers.map { "\($0)" })
            dns.searchDomains = interface.searchDomains
            // wg-quick gives every query to the tunnel's resolvers (resolvconf -x).
            if !interface.dnsServers.isEmpty {
                dns.matchDomains = interface.matchDomains.isEmpty ? [""] : interface.matchDomains
            }
            // A domain that chooses the servers completes no name: those of `DNS` do.
            dns.matchDomainsNoSearch = !interface.matchDomains.isEmpty
            settings.dnsSettings = dns
        }
        return settings
    }

    /// An IPv4 mask in dotted decimal.
    package static func mask(_ length: Int) -> String { "\(IPAddress.v4(~(UInt32.max >> length)))" }
}

extension IPAddress {
    /// Whether the address is one of IPv4.
    var isIPv4: Bool {
        switch self {
        case .v4: true
        case .v6: false
        }
    }
}

extension IPPrefix {
    fileprivate var ipv4Route: IPv4Route? {
        guard address.isIPv4 else { return nil }
        return IPv4Route(destinationAddress: "\(address)", subnetMask: TunnelSettings.mask(length))
    }

    fileprivate var ipv6Route: IPv6Route? {
        guard !address.isIPv4 else { return nil }
        return IPv6Route(destinationAddress: "\(address)", networkPrefixLength: length)
    }
}
