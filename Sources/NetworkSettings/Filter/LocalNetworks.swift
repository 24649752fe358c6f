import Netlink

/// The networks that `excludeLocalNetworks` leaves outside a tunnel.
///
/// Only private ranges count: whoever runs a network may call any addresses of the Internet local (CVE-2023-36672).
enum LocalNetworks {
    private static let privateRanges: [IPPrefix] = [
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7",
    ].compactMap { IPPrefix($0) }

    /// Local by definition, on any link: link-local addresses, broadcast, and multicast that no router forwards.
    static let always: [IPPrefix] = [
        "169.254.0.0/16", "255.255.255.255/32", "224.0.0.0/24", "239.0.0.0/8", "fe80::/10", "ff02::/16", "ff05::/16",
    ].compactMap { IPPrefix($0) }

    /// The private networks that other interfaces than the tunnel's are connected to, by the main table.
    ///
    /// A network with one of the tunnel's own addresses is not among them: somebody outside gave it the tunnel's numbers.
    static func connected(_ main: [Route], except tunnel: UInt32, _ addresses: [IPAddress]) -> [IPPrefix] {
        let found = main.filter { route in
            route.kind == .unicast && route.gateway == nil && route.protocolNumber == ProtocolNumber.kernel
                && route.interface != nil && route.interface != tunnel
                && privateRanges.contains { $0.contains(route.destination) }
                && !addresses.contains(where: route.destination.contains)
        }
        return Set(found.map(\.destination)).sorted()
    }
}
