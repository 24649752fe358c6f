import ProviderKit
import SettingsPush
import WireGuard

/// A profile whose settings a gateway decides: who that is, what it may do, and what the profile says without it.
struct PushProfile: Sendable {
    let configuration: Configuration
    let policy: PushPolicy
    /// The first peer with an endpoint.
    let gateway: Configuration.Peer
    /// How errors and the log name the gateway: by its endpoint.
    let label: String
    /// The profile's file as a person knows it, nil where it has none.
    let file: String?
    /// The numbers of the lines that decide, by their names.
    let lines: [String: Int]

    /// Reads the policy of a profile; nil when the profile alone decides.
    ///
    /// - Parameters:
    ///   - configuration: The parsed file.
    ///   - text: The file, whose comment lines win over the values.
    ///   - profile: The provider configuration, and what the host is to guard.
    /// - Throws: The line that cannot be used, or that there is no gateway.
    init?(
        _ configuration: Configuration, text: String, _ profile: TunnelProviderProtocol
    ) throws(GatewayError) {
        var policy: PushPolicy
        var lines: [String: Int]
        do throws(PolicyLineError) {
            policy = try PushPolicy(profile.providerConfiguration)
            if profile.common.includeAllNetworks { policy.includeAllNetworks = true }
            if profile.common.excludeLocalNetworks { policy.excludeLocalNetworks = true }
            if profile.common.enforceRoutes { policy.enforceRoutes = true }
            lines = try policy.readComments(ofFile: text)
        } catch {
            throw .policy(error)
        }
        guard policy.source != .static else { return nil }
        guard let gateway = configuration.peers.first(where: { $0.endpoint != nil }) else { throw .noGateway }
        self.configuration = configuration
        self.policy = policy
        self.gateway = gateway
        label = gateway.endpoint?.description ?? "unspecified"
        file = profile.providerConfiguration[TunnelProviderProtocol.configurationFileKey]?.stringValue
        lines[Decision.ceilingKey] = Self.line(Decision.ceilingKey, ofPeer: gateway.publicKey, in: text)
        self.lines = lines
    }

    /// What the filter knows of this tunnel, and of the machine that it is on.
    ///
    /// - Parameters:
    ///   - networks: What the machine is connected to beside the tunnel.
    ///   - endpoint: Where the gateway is.
    /// - Returns: The context of every snapshot until something of it changes.
    func policyContext(_ networks: HostNetworks, endpoint: Endpoint?) -> PolicyContext {
        var context = PolicyContext(ceiling: gateway.allowedIPs)
        context.note(networks, endpoint: endpoint)
        context.otherPeers = otherPeers.map {
            PolicyContext.OtherPeer(name: $0.friendlyName ?? $0.publicKey.base64, ceiling: $0.allowedIPs)
        }
        let keys = [configuration.interface.privateKey.publicKey, gateway.publicKey]
        context.controlAddresses = keys.map { ControlPacket.address(of: $0) }
        return context
    }

    /// What the gateway may send and receive with these settings.
    func allowedIPs(for desired: DesiredSettings) -> [IPPrefix] {
        switch desired {
        case .bare: []
        case .profile: gateway.allowedIPs
        case .pushed(_, let outcome): outcome.settings.routes
        }
    }

    /// What the host is to apply.
    func networkSettings(for desired: DesiredSettings) -> PacketTunnelNetworkSettings {
        switch desired {
        case .profile: return TunnelSettings.make(from: configuration, remoteAddress: label)
        case .bare: return bareSettings
        case .pushed(_, let outcome):
            let bare = bareSettings
            var settings = outcome.settings.networkSettings(addingTo: bare)
            // What goes to other peers is the profile's.
            settings.ipv4Settings?.includedRoutes?.append(contentsOf: bare.ipv4Settings?.includedRoutes ?? [])
            settings.ipv6Settings?.includedRoutes?.append(contentsOf: bare.ipv6Settings?.includedRoutes ?? [])
            return settings
        }
    }

    private var otherPeers: [Configuration.Peer] {
        configuration.peers.filter { $0.publicKey != gateway.publicKey }
    }

    /// The profile without its gateway, and without its DNS.
    private var bareSettings: PacketTunnelNetworkSettings {
        var settings = TunnelSettings.make(from: configuration, peers: otherPeers, remoteAddress: label)
        settings.dnsSettings = nil
        if settings.ipv4Settings == nil, settings.ipv6Settings == nil {
            // An interface without any address would not be up.
            let own = ControlPacket.address(of: configuration.interface.privateKey.publicKey)
            settings.ipv6Settings = IPv6Settings(addresses: ["\(own)"], networkPrefixLengths: [128])
        }
        return settings
    }
}
