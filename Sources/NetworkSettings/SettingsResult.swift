/// What is in force after settings were applied.
public struct SettingsResult: Hashable, Sendable {
    /// A part of the settings that was accepted but has no effect.
    public struct NotApplied: Hashable, Sendable {
        /// The name of the part, as in the settings.
        public var part: String
        /// Why it has no effect.
        public var reason: String
    }

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
    /// Parts without effect, such as DNS.
    public var notApplied: [NotApplied]
}
