import GatewayRegistry
import ProviderKit
import SettingsPush
import WireGuard
import WireGuardProvider

/// The gateway's own end of the tunnel.
extension PacketTunnelNetworkSettings {
    /// The first address of each pool with the pool's prefix, routes to the pools and to the networks behind peers, and the MTU.
    init(gateway contents: RegistryContents) {
        var base = PacketTunnelNetworkSettings(tunnelRemoteAddress: "the gateway's peers")
        base.tunnelOverheadBytes = TunnelSettings.overhead
        let pools4 = contents.pools.filter { $0.prefix.address.bitWidth == 32 }
        let pools6 = contents.pools.filter { $0.prefix.address.bitWidth == 128 }
        if !pools4.isEmpty {
            base.ipv4Settings = IPv4Settings(
                addresses: pools4.map { "\($0.gatewayAddress)" },
                subnetMasks: pools4.map { TunnelSettings.mask($0.prefix.length) })
        }
        if !pools6.isEmpty {
            base.ipv6Settings = IPv6Settings(
                addresses: pools6.map { "\($0.gatewayAddress)" }, networkPrefixLengths: pools6.map(\.prefix.length))
        }
        var inside = EffectiveSettings()
        inside.routes = contents.pools.map(\.prefix) + contents.servedSites
        inside.mtu = contents.gateway.mtu
        self = inside.networkSettings(addingTo: base)
    }
}

extension RegistryContents {
    /// The networks behind the peers that are served, by the names of the peers.
    fileprivate var servedSites: [IPPrefix] {
        sortedPeers.filter { $0.state != .disabled }.flatMap(\.siteSubnets)
    }
}
