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

/// One decision of the filter: about what, and why.
public struct Decision: Sendable, Hashable {
    /// What is decided about.
    public enum Subject: Sendable, Hashable {
        case address(AssignedAddress)
        case route(IPPrefix)
        case exclude(IPPrefix)
        case server(DNSServer)
        case searchDomain(DomainName)
        case matchDomain(DomainName)
        case allNames
        case mtu(Int)
        case notice
        case section(UInt16)
    }

    /// Where it stands in the snapshot, and why: what a RESULT carries.
    public let finding: SettingsFinding
    /// What is decided about.
    public let subject: Subject
    /// What it collided with, or what was taken in its place: a network, a peer's name, a number.
    public let detail: String?

    /// Why.
    public var reason: ReasonCode { finding.reason }
}

/// What the filter made of one snapshot.
public struct FilterOutcome: Sendable, Hashable {
    /// What was offered.
    public let snapshot: Snapshot
    /// What is left of it.
    public internal(set) var settings = EffectiveSettings()
    /// Every decision, in the order of the rules; an item may have several.
    public internal(set) var decisions: [Decision] = []
    /// Whether nothing is left that a tunnel could be made of.
    public internal(set) var isRejected = false

    /// Begins with nothing decided.
    init(snapshot: Snapshot) { self.snapshot = snapshot }

    /// How a RESULT calls the outcome once it is in force.
    public var status: SettingsResult.Status {
        isRejected ? .rejected : decisions.contains { $0.reason.effect == .refused } ? .filtered : .applied
    }

    /// What a RESULT carries: refusals first, then what was changed or noted.
    public var findings: [SettingsFinding] {
        let refused = decisions.filter { $0.reason.effect == .refused }
        let changed = decisions.filter { $0.reason.effect == .changed }
        return Array((refused + changed).map(\.finding).prefix(SnapshotLimits.findingCount))
    }

    /// Keeps that a section was passed over because it is not known.
    mutating func noteIgnored(_ finding: SettingsFinding) {
        decisions.append(Decision(finding: finding, subject: .section(finding.section), detail: nil))
    }

    mutating func decide(
        _ section: SectionType, _ index: Int, _ subject: Decision.Subject, _ reason: ReasonCode, _ detail: String? = nil
    ) {
        let finding = SettingsFinding(section: section.rawValue, index: UInt16(clamping: index), reason: reason)
        decisions.append(Decision(finding: finding, subject: subject, detail: detail))
    }
}
