/// What the on-demand rules of a configuration came to, when, and in what network.
public struct OnDemandState: Codable, Sendable, Equatable {
    /// The network that rules were evaluated in.
    public struct Network: Codable, Sendable, Equatable {
        /// The interface that leads out of the machine; nil where none does.
        public var interface: String?
        /// What that is: ethernet, wiFi, cellular, virtual.
        public var type: String?
        /// The Wi-Fi network that it is connected to.
        public var ssid: String?
        public var dnsServers: [String]
        public var searchDomains: [String]

        /// A network without any interface.
        public init(dnsServers: [String], searchDomains: [String]) {
            self.dnsServers = dnsServers
            self.searchDomains = searchDomains
        }
    }

    /// Whether rules start and stop the session: they do where the configuration and on-demand are enabled.
    public var isInForce = false
    /// The rule that matched, from 1; nil where none did.
    public var rule: Int?
    /// What that rule says: connect, disconnect, evaluateConnection, ignore.
    public var action: String?
    /// Why, as a sentence.
    public var reason: String
    /// When that was decided, in seconds since 1970.
    public var time: Double?
    public var network: Network?
    /// How often in a row the session ended by itself.
    public var failures = 0
    /// When it is started again, in seconds since 1970; nil where nothing waits for that.
    public var nextStart: Double?

    /// Of rules that are not in force.
    public init(reason: String) { self.reason = reason }
}

/// Every key is written, null where it has no value.
extension OnDemandState {
    private enum CodingKeys: String, CodingKey {
        case isInForce, rule, action, reason, time, network, failures, nextStart
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(isInForce, forKey: .isInForce)
        try container.encode(rule, forKey: .rule)
        try container.encode(action, forKey: .action)
        try container.encode(reason, forKey: .reason)
        try container.encode(time, forKey: .time)
        try container.encode(network, forKey: .network)
        try container.encode(failures, forKey: .failures)
        try container.encode(nextStart, forKey: .nextStart)
    }
}

extension OnDemandState.Network {
    private enum CodingKeys: String, CodingKey { case interface, type, ssid, dnsServers, searchDomains }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(interface, forKey: .interface)
        try container.encode(type, forKey: .type)
        try container.encode(ssid, forKey: .ssid)
        try container.encode(dnsServers, forKey: .dnsServers)
        try container.encode(searchDomains, forKey: .searchDomains)
    }
}
