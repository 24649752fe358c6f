public import ProviderKit

/// What a provider that is made of this one brings along, in place of what the profile says.
///
/// Such a provider makes a ``WireGuardProvider`` with a role when it is started, and passes its own calls on to it.
public struct TunnelRole: Sendable {
    /// The configuration as a wg-quick file; no peer has to be in it.
    public var configurationText: String
    /// The network settings that the tunnel starts with; nil for those that follow from the configuration.
    ///
    /// Later ones are the role's own calls of `setTunnelNetworkSettings`.
    public var settings: PacketTunnelNetworkSettings?
    /// Makes the control plane when the tunnel starts; what it throws ends the start.
    public var makeControlPlane: @Sendable (ControlPlaneWaker) throws -> sending any ControlPlane

    /// Makes a role.
    public init(
        configurationText: String, settings: PacketTunnelNetworkSettings?,
        makeControlPlane: @escaping @Sendable (ControlPlaneWaker) throws -> sending any ControlPlane
    ) {
        self.configurationText = configurationText
        self.settings = settings
        self.makeControlPlane = makeControlPlane
    }
}
