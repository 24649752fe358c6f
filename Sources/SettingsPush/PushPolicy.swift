public import WireGuard

/// What a profile lets a gateway decide; a gateway never widens it.
public struct PushPolicy: Sendable, Hashable {
    /// How much of name resolution a gateway may take.
    public enum DNSAcceptance: String, Sendable, Hashable, CaseIterable {
        case none, split, full
    }

    /// What becomes of the settings when their lease ends and the gateway is silent.
    public enum LeaseExpiry: String, Sendable, Hashable, CaseIterable {
        case keep, withdraw
    }

    /// Where the settings come from.
    public var source: SettingsSource = .static
    /// Whether a route to everything, or to more than half of a family, is taken.
    public var acceptDefaultRoute = false
    /// The networks in which routes must lie; nil for all inside the peer's AllowedIPs.
    public var acceptRoutes: [IPPrefix]?
    /// Networks that never go to the gateway.
    public var denyRoutes: [IPPrefix] = []
    /// How much of name resolution is taken.
    public var acceptDNS: DNSAcceptance = .split
    /// Whether search domains complete names; else they only choose the server.
    public var acceptSearchDomains = false
    /// The zones in which pushed domains must lie; nil for all.
    public var allowedDNSZones: [DomainName]?
    /// The networks in which the tunnel's addresses must lie; nil for all.
    public var allowedAddressPools: [IPPrefix]?
    /// The number of routes that are taken.
    public var maxRoutes = 1024
    /// The range into which a pushed MTU is brought.
    public var mtuRange: ClosedRange<Int> = 576...65_535
    /// The number of changes that are taken in a minute; never more than one a second.
    public var maxChangesPerMinute = 10
    /// What becomes of the settings when their lease ends.
    public var onLeaseExpiry: LeaseExpiry = .keep
    /// Whether a family without a default route is blocked while the other one has one.
    public var blockOtherFamily = true
    /// Whether nothing may leave outside of the tunnel.
    public var includeAllNetworks = false
    /// Whether connected networks stay local, even where only a part of one is routed.
    public var excludeLocalNetworks = false
    /// Whether routes of the tunnel win over connected networks.
    public var enforceRoutes = false

    /// Makes the policy of a profile that says nothing: no push, and with it routes and split DNS inside the ceiling.
    public init() {}

    /// The limits that a client with this policy announces.
    public var limits: SnapshotLimits {
        SnapshotLimits(
            byteCount: maxRoutes > Int(SnapshotLimits.standard.routeCount)
                ? SnapshotLimits.hard.byteCount : SnapshotLimits.standard.byteCount,
            routeCount: UInt32(clamping: max(maxRoutes, Int(SnapshotLimits.standard.routeCount))))
    }
}
