public import Netlink
import ProviderKit

/// What the system's resolver is to know of one interface; nothing in it can be malformed any more.
public struct ResolverConfiguration: Hashable, Sendable {
    /// A domain that the servers answer for.
    public struct Domain: Hashable, Sendable {
        public var name: DomainName
        /// Whether the domain only routes queries, and does not complete single-label names.
        public var isRouteOnly: Bool
    }

    /// The resolvers, in the order of preference.
    public var servers: [IPAddress]
    /// Without repeats; those that complete names in the order in which they are tried.
    public var domains: [Domain]
    /// Whether every query goes to the servers, not only one below a domain of the list.
    public var isDefault: Bool

    /// The domains that complete single-label names.
    var searchDomains: [DomainName] { domains.filter { !$0.isRouteOnly }.map(\.name) }
}

extension ResolverConfiguration {
    private static let serverLimit = 8
    private static let searchLimit = 32
    private static let matchLimit = 256

    /// Validates DNS settings; nil for settings without a server, which have no effect.
    ///
    /// As in Network Extension, an element "" of the match domains makes the servers the default, and a default route in
    /// the tunnel does so whatever the list says. Without a list the servers are the default as well.
    init?(_ settings: DNSSettings, hasDefaultRoute: Bool) throws(SettingsDefect) {
        try Self.check(settings.servers, limit: Self.serverLimit, "dnsSettings.servers")
        try Self.check(settings.searchDomains ?? [], limit: Self.searchLimit, "dnsSettings.searchDomains")
        try Self.check(settings.matchDomains ?? [], limit: Self.matchLimit, "dnsSettings.matchDomains")
        var servers: [IPAddress] = []
        for text in settings.servers {
            let server = IPAddress(text)
            guard let server, server != .unspecified(server.family), !server.isMulticast else {
                throw .invalidAddress(field: "dnsSettings.servers", value: text)
            }
            if !servers.contains(server) { servers.append(server) }
        }
        let search = try Self.names(settings.searchDomains ?? [], "dnsSettings.searchDomains")
        let match = try Self.names(
            (settings.matchDomains ?? []).filter { !$0.isEmpty }, "dnsSettings.matchDomains")
        guard !servers.isEmpty else { return nil }
        self.servers = servers
        isDefault = hasDefaultRoute || settings.matchDomains?.contains("") ?? true
        domains = search.map { Domain(name: $0, isRouteOnly: false) }
        for name in match where !domains.contains(where: { $0.name == name }) {
            domains.append(Domain(name: name, isRouteOnly: settings.matchDomainsNoSearch))
        }
    }

    private static func check(_ items: [String], limit: Int, _ field: String) throws(SettingsDefect) {
        if items.count > limit { throw .tooMany(field: field, count: items.count, limit: limit) }
    }

    private static func names(_ texts: [String], _ field: String) throws(SettingsDefect) -> [DomainName] {
        var names: [DomainName] = []
        for text in texts {
            guard let name = DomainName(text) else { throw .invalidDomain(field: field, value: text) }
            if !names.contains(name) { names.append(name) }
        }
        return names
    }
}
