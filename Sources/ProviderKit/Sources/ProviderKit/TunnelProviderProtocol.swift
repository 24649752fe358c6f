/// The configuration of a tunnel that a provider serves (Network Extension's `NETunnelProviderProtocol`).
public struct TunnelProviderProtocol: Sendable, Equatable, Codable {
    /// The key of ``providerConfiguration`` that holds the name of the file given with `--config`.
    public static let configurationFileKey = "ConfigurationFile"
    /// The key of ``providerConfiguration`` that holds the text of the file given with `--config`.
    public static let configurationTextKey = "ConfigurationText"
    /// The key of ``providerConfiguration`` that is true when commands in the configuration may run (`--allow-hooks`).
    public static let allowHooksKey = "AllowHooks"

    /// The key of ``providerConfiguration`` that is true when tools give the interface its addresses, routes, MTU and state.
    ///
    /// The provider then starts without a configuration, applies no settings, and follows the state of the interface.
    public static let followsInterfaceKey = "FollowsInterface"

    /// The bundle that serves the tunnel.
    public var providerBundleIdentifier: String
    /// The server, in the form that the provider expects; a label only.
    public var serverAddress: String?
    /// The provider's own values, given to it as they are.
    public var providerConfiguration: [String: PropertyListValue]
    /// Whether the session is stopped when the machine sleeps.
    public var disconnectOnSleep: Bool

    /// Makes a configuration for one provider.
    public init(
        providerBundleIdentifier: String, serverAddress: String? = nil,
        providerConfiguration: [String: PropertyListValue] = [:], disconnectOnSleep: Bool = false
    ) {
        self.providerBundleIdentifier = providerBundleIdentifier
        self.serverAddress = serverAddress
        self.providerConfiguration = providerConfiguration
        self.disconnectOnSleep = disconnectOnSleep
    }
}
