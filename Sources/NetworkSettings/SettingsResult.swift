public import ProviderKit

/// What is in force after settings were applied.
public struct SettingsResult: Hashable, Sendable {
    /// Whether anything was changed; false when equal settings were applied again.
    public var changed: Bool
    /// The MTU of the interface in bytes; nil after clearing.
    public var mtu: Int?
    /// The tunnel's own routing table, if it has routes in one.
    public var table: UInt32?
    /// Addresses, routes and rules in force.
    public var addressCount: Int
    public var routeCount: Int
    public var ruleCount: Int
    /// Whether a default route leads into the tunnel.
    public var leadsDefault: Bool
    /// What has no effect on this machine, such as DNS.
    public var shortfalls: [SettingsShortfall]
}
