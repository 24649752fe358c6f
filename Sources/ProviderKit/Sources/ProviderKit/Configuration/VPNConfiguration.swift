/// A configuration as the store keeps it and the wire carries it: what a manager object of an application is a view of.
public struct VPNConfiguration: Sendable, Equatable, Codable {
    /// What names this configuration and no other.
    public let identifier: UniqueIdentifier
    /// Which manager it belongs to.
    public let slot: VPNConfigurationSlot
    /// The name that people see.
    public var localizedDescription: String?
    /// Whether it may be started.
    public var isEnabled = false
    /// How to connect; a configuration without one cannot be saved.
    public var protocolConfiguration: ProtocolConfiguration?
    /// When to start and stop without being asked, in order.
    public var onDemandRules: [OnDemandRule]?
    /// Whether ``onDemandRules`` are in force, provided that ``isEnabled`` is true.
    public var isOnDemandEnabled = false
    /// The save that this content comes from: set by a load, 0 where the load found nothing saved.
    ///
    /// A save with another number than the stored one is refused as stale, and so is one without any: it was not loaded.
    public var generation: UInt64?

    /// Makes a configuration that was never saved or loaded.
    public init(slot: VPNConfigurationSlot = .tunnelProvider, identifier: UniqueIdentifier = UniqueIdentifier()) {
        self.slot = slot
        self.identifier = identifier
    }
}

/// The manager that a configuration belongs to.
public enum VPNConfigurationSlot: String, Sendable, Codable, CaseIterable {
    /// One of any number of tunnels (`TunnelProviderManager`).
    case tunnelProvider
    /// The one personal VPN that an application has (`VPNManager.shared`).
    case personal
}
