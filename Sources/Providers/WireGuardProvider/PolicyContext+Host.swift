import ProviderKit
import SettingsPush
import WireGuard

extension PolicyContext {
    /// The room that WireGuard takes of an outer packet, with UDP and the IP header of the family.
    private static let overhead = (ipv4: 60, ipv6: 80)

    /// Takes over what the machine is connected to, and what of it the path to the gateway can carry.
    mutating func note(_ networks: HostNetworks, endpoint: Endpoint?) {
        connectedNetworks = []
        addressesInUse = [:]
        var path: (length: Int, mtu: Int)?
        for entry in networks.addresses {
            guard let address = IPAddress(entry.address),
                let prefix = IPPrefix(address, length: entry.prefixLength)
            else { continue }
            addressesInUse[address] = entry.interface
            // An address of its own is no network that anybody is connected to; link-local ones are on every link.
            guard prefix.length < address.bitWidth, !prefix.isLinkLocal else { continue }
            connectedNetworks.append(ConnectedNetwork(interface: entry.interface, prefix: prefix))
            if let endpoint, prefix.contains(endpoint.address), prefix.length >= path?.length ?? 0 {
                path = (prefix.length, entry.mtu)
            }
        }
        guard let outer = path?.mtu ?? networks.defaultRouteMTU else { return }
        largestMTU = outer - (endpoint?.address.isIPv4 == true ? Self.overhead.ipv4 : Self.overhead.ipv6)
    }
}

extension IPPrefix {
    fileprivate var isLinkLocal: Bool {
        switch address {
        case .v4(let value): value >> 16 == 0xa9fe
        case .v6(let value): value >> 118 == 0xfe80 >> 6
        }
    }
}
