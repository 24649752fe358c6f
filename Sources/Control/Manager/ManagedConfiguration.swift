public import ProviderKit

/// A configuration with whose it is.
public struct ManagedConfiguration: Codable, Sendable, Equatable {
    /// The configuration itself.
    public var content: VPNConfiguration
    /// The application that it belongs to.
    public var application: String
    /// The user that it belongs to.
    public var owner: UInt32
    /// Whether what is secret of it was left out, because the caller may not change it.
    public var isRedacted = false

    /// Says whose a configuration is.
    public init(_ content: VPNConfiguration, application: String, owner: UInt32) {
        self.content = content
        self.application = application
        self.owner = owner
    }

    /// The identifier as text.
    public var key: String { content.identifier.description }

    /// The name that people see, else the identifier.
    public var label: String { content.localizedDescription ?? key }

    /// The tunnel that a provider serves, where it is one.
    public var tunnelProvider: TunnelProviderProtocol? {
        guard case .tunnelProvider(let provider) = content.protocolConfiguration else { return nil }
        return provider
    }

    /// The configuration without references, identities, names and the provider's own values.
    public var redacted: ManagedConfiguration {
        var copy = self
        copy.isRedacted = true
        guard let protocolConfiguration = content.protocolConfiguration else { return copy }
        var values = VPNProtocolValues()
        values.serverAddress = protocolConfiguration.common.serverAddress
        switch protocolConfiguration {
        case .tunnelProvider(let provider):
            copy.content.protocolConfiguration = .tunnelProvider(
                TunnelProviderProtocol(providerBundleIdentifier: provider.providerBundleIdentifier))
        case .ikev2: copy.content.protocolConfiguration = .ikev2(VPNProtocolIKEv2())
        case .ipsec: copy.content.protocolConfiguration = .ipsec(VPNProtocolIPSec())
        }
        copy.content.protocolConfiguration?.common = values
        return copy
    }

    private enum CodingKeys: String, CodingKey { case application, owner, isRedacted }

    public init(from decoder: any Decoder) throws {
        content = try VPNConfiguration(from: decoder)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        application = try values.decode(String.self, forKey: .application)
        owner = try values.decode(UInt32.self, forKey: .owner)
        isRedacted = try values.decodeIfPresent(Bool.self, forKey: .isRedacted) ?? false
    }

    public func encode(to encoder: any Encoder) throws {
        try content.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(application, forKey: .application)
        try values.encode(owner, forKey: .owner)
        try values.encode(isRedacted, forKey: .isRedacted)
    }
}
