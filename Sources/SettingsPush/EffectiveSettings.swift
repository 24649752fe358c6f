public import WireGuard

/// The settings that a filter let through.
public struct EffectiveSettings: Sendable, Hashable {
    /// Addresses of the tunnel.
    public var addresses: [AssignedAddress] = []
    /// What goes into the tunnel, and what may come out of it.
    public var routes: [IPPrefix] = []
    /// What stays outside even where a route covers it: exclusions, denied and connected networks.
    public var excludes: [IPPrefix] = []
    /// Families of which nothing may leave, because only the other one has a default route.
    public var blockedFamilies: AddressFamilies = []
    /// Resolvers and names; nil for none.
    public var dns: DNS?
    /// The MTU; nil for the provider's own choice.
    public var mtu: Int?
    /// A sentence to be shown.
    public var notice: String?

    /// Resolvers and the names that they answer for.
    public struct DNS: Sendable, Hashable {
        /// The resolvers in order of preference.
        public var servers: [IPAddress]
        /// Domains that complete single-label names.
        public var searchDomains: [DomainName]
        /// Domains that choose these resolvers.
        public var matchDomains: [DomainName]
        /// Whether all names go to these resolvers.
        public var capturesAll: Bool
    }

    /// Makes settings of nothing.
    public init() {}
}
