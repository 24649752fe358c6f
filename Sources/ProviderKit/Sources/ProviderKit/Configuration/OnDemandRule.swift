/// One rule of an ordered list of which the first that matches decides (Network Extension's `NEOnDemandRule`).
///
/// All conditions that are set must hold; a rule without a condition always matches.
public struct OnDemandRule: Sendable, Hashable, Codable {
    /// What happens when the rule matches.
    public var action: OnDemandRuleAction
    /// The type of the primary interface.
    public var interfaceTypeMatch: OnDemandRuleInterfaceType
    /// Names of Wi-Fi networks, one of which is the current one.
    public var ssidMatch: [String]?
    /// Search domains, one of which is the current default one.
    public var dnsSearchDomainMatch: [String]?
    /// Addresses of DNS servers, among which every current one is.
    public var dnsServerAddressMatch: [String]?
    /// An http or https URL that answers with 200.
    public var probeURL: String?
    /// Decides by destination, with ``OnDemandRuleAction/evaluateConnection``; the first that matches counts.
    public var connectionRules: [EvaluateConnectionRule]?

    /// Makes a rule without a condition.
    public init(_ action: OnDemandRuleAction, interfaceTypeMatch: OnDemandRuleInterfaceType = .any) {
        self.action = action
        self.interfaceTypeMatch = interfaceTypeMatch
    }
}

/// What happens when a rule matches (`NEOnDemandRuleAction`).
public enum OnDemandRuleAction: Int, Sendable, Codable, CaseIterable {
    /// The tunnel is started.
    case connect = 1
    /// The tunnel is stopped and not started.
    case disconnect = 2
    /// The destination decides.
    case evaluateConnection = 3
    /// The tunnel is left as it is.
    case ignore = 4
}

/// The type of an interface (`NEOnDemandRuleInterfaceType`).
public enum OnDemandRuleInterfaceType: Int, Sendable, Codable, CaseIterable {
    case any = 0
    case ethernet = 1
    case wiFi = 2
    case cellular = 3
}

/// Whether a connection to some domains starts the tunnel (Network Extension's `NEEvaluateConnectionRule`).
public struct EvaluateConnectionRule: Sendable, Hashable, Codable {
    /// Whole-label suffixes of host names.
    public let matchDomains: [String]
    /// Whether the tunnel is started.
    public let action: EvaluateConnectionRuleAction
    /// The servers that must resolve the host name; a failure starts the tunnel.
    public var useDNSServers: [String]?
    /// An http or https URL; anything but an answer with 200 starts the tunnel.
    public var probeURL: String?

    /// Makes a rule for these domains.
    public init(matchDomains: [String], andAction action: EvaluateConnectionRuleAction) {
        self.matchDomains = matchDomains
        self.action = action
    }
}

/// Whether a connection starts the tunnel (`NEEvaluateConnectionRuleAction`).
public enum EvaluateConnectionRuleAction: Int, Sendable, Codable, CaseIterable {
    /// The tunnel is started where the destination cannot be reached without it.
    case connectIfNeeded = 1
    /// The tunnel is never started.
    case neverConnect = 2
}
