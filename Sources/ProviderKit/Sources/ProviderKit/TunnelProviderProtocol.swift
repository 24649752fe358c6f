/// The configuration of a tunnel that a provider serves (Network Extension's `NETunnelProviderProtocol`).
public struct TunnelProviderProtocol: VPNProtocol {
    /// The key of ``providerConfiguration`` that holds the name of the file given with `--config`.
    public static let configurationFileKey = "ConfigurationFile"
    /// The key of ``providerConfiguration`` that holds the text of the file given with `--config`.
    public static let configurationTextKey = "ConfigurationText"
    /// The key of ``providerConfiguration`` that is true when commands in the configuration may run (`--allow-hooks`).
    public static let allowHooksKey = "AllowHooks"
    /// The key of ``providerConfiguration`` that holds the name of the interface; the first free `phtunN` without it.
    public static let interfaceNameKey = "InterfaceName"
    /// The key of ``providerConfiguration`` that is `namespace` when the interface lies in a network namespace of its own.
    public static let isolationKey = "Isolation"
    /// The key of ``providerConfiguration`` that is true when clients behind the tunnel are let out with the machine's own
    /// address.
    public static let masqueradeKey = "Masquerade"
    /// The key of ``providerConfiguration`` with a dictionary of keychain references: where a text has `${keychain:NAME}`,
    /// the provider sees the secret of this name.
    public static let keychainReferencesKey = "KeychainReferences"

    /// The key of ``providerConfiguration`` that is true when tools give the interface its addresses, routes, MTU and state.
    ///
    /// The provider then starts without a configuration, applies no settings, and follows the state of the interface.
    public static let followsInterfaceKey = "FollowsInterface"

    /// The properties of every protocol; the server's address is a label only.
    public var common: VPNProtocolValues
    /// The bundle that serves the tunnel.
    public var providerBundleIdentifier: String
    /// The provider's own values, given to it as they are.
    public var providerConfiguration: [String: PropertyListValue]

    /// Makes a configuration for one provider.
    public init(
        providerBundleIdentifier: String, serverAddress: String? = nil,
        providerConfiguration: [String: PropertyListValue] = [:], disconnectOnSleep: Bool = false
    ) {
        common = VPNProtocolValues()
        common.serverAddress = serverAddress
        common.disconnectOnSleep = disconnectOnSleep
        self.providerBundleIdentifier = providerBundleIdentifier
        self.providerConfiguration = providerConfiguration
    }
}

extension TunnelProviderProtocol: Codable {
    private enum CodingKeys: String, CodingKey {
        case providerBundleIdentifier, providerConfiguration
    }

    public init(from decoder: any Decoder) throws {
        common = try VPNProtocolValues(from: decoder)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        providerBundleIdentifier = try values.decode(String.self, forKey: .providerBundleIdentifier)
        providerConfiguration = try values.decode(.providerConfiguration, default: [:])
    }

    public func encode(to encoder: any Encoder) throws {
        try common.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(providerBundleIdentifier, forKey: .providerBundleIdentifier)
        try values.encode(providerConfiguration, forKey: .providerConfiguration)
    }
}
