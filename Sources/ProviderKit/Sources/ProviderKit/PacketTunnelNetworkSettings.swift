/// Everything that a tunnel wants of the network: a whole desired state, never a difference.
public struct PacketTunnelNetworkSettings: Sendable, Equatable, Codable {
    /// The address of the tunnel server, a label: the host never derives a route from it.
    public var tunnelRemoteAddress: String
    /// Addresses and routes of IPv4; nil for none.
    public var ipv4Settings: IPv4Settings?
    /// Addresses and routes of IPv6; nil for none.
    public var ipv6Settings: IPv6Settings?
    /// Resolvers and domains; nil leaves the system's as they are.
    public var dnsSettings: DNSSettings?
    /// HTTP proxies, kept as data.
    public var proxySettings: ProxySettings?
    /// The MTU of the interface in bytes; when set, ``tunnelOverheadBytes`` is ignored.
    public var mtu: Int?
    /// The MTU is that of the primary physical interface less this many bytes.
    public var tunnelOverheadBytes: Int?
    /// Where routes go (Linux only).
    public var routing: Routing

    /// Where the included routes go.
    public enum Routing: Sendable, Equatable, Codable {
        /// A table of the tunnel's own that is looked up before main.
        case automatic
        /// No routes and no rules: the administrator sets them.
        case off
        /// Routes into this table, without rules.
        case table(UInt32)
    }

    /// Makes settings without addresses or routes.
    public init(tunnelRemoteAddress: String) {
        self.tunnelRemoteAddress = tunnelRemoteAddress
        routing = .automatic
    }
}

/// IPv4 addresses of the interface and the routes through it.
public struct IPv4Settings: Sendable, Equatable, Codable {
    /// Addresses in dotted decimal, parallel to ``subnetMasks``.
    public var addresses: [String]
    /// Masks in dotted decimal.
    public var subnetMasks: [String]
    /// What goes into the tunnel; nil or empty for nothing beyond the addresses' own subnets.
    public var includedRoutes: [IPv4Route]?
    /// What stays outside even where an included route covers it.
    public var excludedRoutes: [IPv4Route]?

    /// Makes settings with parallel arrays of addresses and masks.
    public init(addresses: [String], subnetMasks: [String]) {
        self.addresses = addresses
        self.subnetMasks = subnetMasks
    }
}

/// IPv6 addresses of the interface and the routes through it.
public struct IPv6Settings: Sendable, Equatable, Codable {
    /// Addresses, parallel to ``networkPrefixLengths``.
    public var addresses: [String]
    /// Prefix lengths, 0 to 128.
    public var networkPrefixLengths: [Int]
    /// What goes into the tunnel; nil or empty for nothing beyond the addresses' own subnets.
    public var includedRoutes: [IPv6Route]?
    /// What stays outside even where an included route covers it.
    public var excludedRoutes: [IPv6Route]?

    /// Makes settings with parallel arrays of addresses and prefix lengths.
    public init(addresses: [String], networkPrefixLengths: [Int]) {
        self.addresses = addresses
        self.networkPrefixLengths = networkPrefixLengths
    }
}

/// One IPv4 destination.
public struct IPv4Route: Sendable, Equatable, Hashable, Codable {
    /// The destination network in dotted decimal.
    public var destinationAddress: String
    /// Its mask in dotted decimal.
    public var destinationSubnetMask: String

    /// Makes a route to one network.
    public init(destinationAddress: String, subnetMask: String) {
        self.destinationAddress = destinationAddress
        destinationSubnetMask = subnetMask
    }

    /// The default route, 0.0.0.0/0.
    public static func `default`() -> IPv4Route { IPv4Route(destinationAddress: "0.0.0.0", subnetMask: "0.0.0.0") }
}

/// One IPv6 destination.
public struct IPv6Route: Sendable, Equatable, Hashable, Codable {
    /// The destination network.
    public var destinationAddress: String
    /// Its prefix length, 0 to 128.
    public var destinationNetworkPrefixLength: Int

    /// Makes a route to one network.
    public init(destinationAddress: String, networkPrefixLength: Int) {
        self.destinationAddress = destinationAddress
        destinationNetworkPrefixLength = networkPrefixLength
    }

    /// The default route, ::/0.
    public static func `default`() -> IPv6Route { IPv6Route(destinationAddress: "::", networkPrefixLength: 0) }
}

/// Resolvers of the tunnel and the domains that they answer for.
public struct DNSSettings: Sendable, Equatable, Codable {
    /// IPv4 and IPv6 addresses of the resolvers, may be mixed.
    public var servers: [String]
    /// Domains that complete single-label names.
    public var searchDomains: [String]?
    /// Split DNS: only these domains use ``servers``; an element "" makes them the default resolvers.
    ///
    /// Nil makes them the default too, and so does a default route in the tunnel, whatever the list says.
    public var matchDomains: [String]?
    /// Whether ``matchDomains`` stay out of the search list.
    public var matchDomainsNoSearch: Bool

    /// Makes settings with resolvers only.
    public init(servers: [String]) {
        self.servers = servers
        matchDomainsNoSearch = false
    }
}

/// HTTP proxies of the tunnel, kept as data for programs that ask for them.
public struct ProxySettings: Sendable, Equatable, Codable {
    /// Whether proxies come from a proxy auto-configuration.
    public var autoProxyConfigurationEnabled: Bool
    /// Where the auto-configuration is fetched.
    public var proxyAutoConfigurationURL: String?
    /// The source of the auto-configuration, wins over the URL.
    public var proxyAutoConfigurationJavaScript: String?
    /// The proxy for HTTP; nil for none.
    public var httpServer: ProxyServer?
    /// The proxy for HTTPS; nil for none.
    public var httpsServer: ProxyServer?
    /// Whether single-label names bypass the proxies.
    public var excludeSimpleHostnames: Bool
    /// Patterns with `*` of names that bypass the proxies.
    public var exceptionList: [String]?
    /// Suffixes of the names that use the proxies; nil for all.
    public var matchDomains: [String]?

    /// Makes settings without a proxy.
    public init() {
        autoProxyConfigurationEnabled = false
        excludeSimpleHostnames = false
    }
}

/// One proxy server.
public struct ProxyServer: Sendable, Equatable, Codable {
    /// Host name or address.
    public var address: String
    /// TCP port.
    public var port: Int

    /// Makes a server that needs no authentication.
    public init(address: String, port: Int) {
        self.address = address
        self.port = port
    }
}
