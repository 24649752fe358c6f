public import ProviderKit

/// What Network Extension demands of an application that manages tunnels; here the machine gives it to users.
public enum Entitlement: String, Sendable, CaseIterable {
    /// To manage tunnels that a provider serves.
    case packetTunnelProvider = "packet-tunnel-provider"
    /// To manage the personal VPN.
    case personalVPN = "allow-vpn"

    /// The entitlement that a configuration of this kind takes.
    public init(_ slot: VPNConfigurationSlot) {
        self =
            switch slot {
            case .tunnelProvider: .packetTunnelProvider
            case .personal: .personalVPN
            }
    }

    /// The key that the value stands under.
    public var key: String {
        switch self {
        case .packetTunnelProvider: "com.apple.developer.networking.networkextension"
        case .personalVPN: "com.apple.developer.networking.vpn.api"
        }
    }
}
