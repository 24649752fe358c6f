import ProviderKit

/// Settings in the short notation of tests: `10.9.0.2/32`.
func settings(
    _ addresses: [String], include: [String] = [], exclude: [String] = [], mtu: Int? = nil,
    routing: PacketTunnelNetworkSettings.Routing = .automatic, dns: DNSSettings? = nil
) -> PacketTunnelNetworkSettings {
    var settings = PacketTunnelNetworkSettings(tunnelRemoteAddress: "192.0.2.1")
    settings.mtu = mtu
    settings.routing = routing
    settings.dnsSettings = dns
    let four = [addresses, include, exclude].map { $0.filter { !$0.contains(":") }.map(split) }
    let six = [addresses, include, exclude].map { $0.filter { $0.contains(":") }.map(split) }
    if !four.allSatisfy(\.isEmpty) {
        var ipv4 = IPv4Settings(addresses: four[0].map(\.0), subnetMasks: four[0].map { mask($0.1) })
        ipv4.includedRoutes = four[1].map { IPv4Route(destinationAddress: $0.0, subnetMask: mask($0.1)) }
        ipv4.excludedRoutes = four[2].map { IPv4Route(destinationAddress: $0.0, subnetMask: mask($0.1)) }
        settings.ipv4Settings = ipv4
    }
    if !six.allSatisfy(\.isEmpty) {
        var ipv6 = IPv6Settings(addresses: six[0].map(\.0), networkPrefixLengths: six[0].map(\.1))
        ipv6.includedRoutes = six[1].map { IPv6Route(destinationAddress: $0.0, networkPrefixLength: $0.1) }
        ipv6.excludedRoutes = six[2].map { IPv6Route(destinationAddress: $0.0, networkPrefixLength: $0.1) }
        settings.ipv6Settings = ipv6
    }
    return settings
}

private func split(_ text: String) -> (String, Int) {
    let parts = text.split(separator: "/")
    return (String(parts[0]), Int(parts[1]) ?? -1)
}

private func mask(_ length: Int) -> String {
    let bits = length == 0 ? 0 : UInt32.max << UInt32(32 - length)
    return [24, 16, 8, 0].map { String(bits >> $0 & 255) }.joined(separator: ".")
}
