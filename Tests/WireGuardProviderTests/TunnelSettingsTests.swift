import ProviderKit
import Testing
import WireGuard

@testable import WireGuardProvider

@Suite("Settings of a wg-quick file")
struct TunnelSettingsTests {
    private func settings(_ interface: String, _ peer: String = "") throws -> PacketTunnelNetworkSettings {
        let key = PrivateKey(Key256(words: SIMD4(1, 2, 3, 4)))
        let configuration = try Configuration(
            wgQuick: """
                [Interface]
                PrivateKey = \(key.base64)
                \(interface)
                [Peer]
                PublicKey = \(key.publicKey.base64)
                \(peer)
                """)
        return TunnelSettings.make(from: configuration, remoteAddress: "192.0.2.1:51820")
    }

    @Test("Addresses and allowed IPs become addresses and included routes of their family")
    func families() throws {
        let made = try settings("Address = 10.7.0.2/24, fd07::2/64", "AllowedIPs = 10.7.0.0/24, 0.0.0.0/0, fd07::/64")
        #expect(made.ipv4Settings?.addresses == ["10.7.0.2"])
        #expect(made.ipv4Settings?.subnetMasks == ["255.255.255.0"])
        #expect(
            made.ipv4Settings?.includedRoutes == [
                .default(), IPv4Route(destinationAddress: "10.7.0.0", subnetMask: "255.255.255.0"),
            ])
        #expect(made.ipv6Settings?.networkPrefixLengths == [64])
        #expect(
            made.ipv6Settings?.includedRoutes == [IPv6Route(destinationAddress: "fd07::", networkPrefixLength: 64)])
        #expect(made.mtu == nil && made.tunnelOverheadBytes == 80)
        #expect(made.routing == .automatic)
    }

    @Test("A family without address and allowed IP is left alone")
    func oneFamily() throws {
        let made = try settings("Address = 10.7.0.2/32", "AllowedIPs = 10.0.0.0/8")
        #expect(made.ipv6Settings == nil)
    }

    @Test("Table, MTU and DNS are taken over")
    func others() throws {
        let made = try settings("Address = 10.7.0.2/32\nTable = off\nMTU = 1380\nDNS = 10.7.0.1, example.org")
        #expect(made.routing == .off)
        #expect(made.mtu == 1380)
        #expect(made.dnsSettings?.servers == ["10.7.0.1"])
        #expect(made.dnsSettings?.searchDomains == ["example.org"])
        #expect(made.dnsSettings?.matchDomains == [""])
        #expect(try settings("Table = 1234").routing == .table(1234))
    }

    @Test("Match domains take the place of all names, and complete none")
    func splitDNS() throws {
        let dns = try settings("DNS = 10.7.0.1, office.example\n# match_domains = corp.example, lab.example")
            .dnsSettings
        #expect(dns?.matchDomains == ["corp.example", "lab.example"] && dns?.matchDomainsNoSearch == true)
        #expect(dns?.searchDomains == ["office.example"])
        #expect(try settings("DNS = office.example\n# match_domains = corp.example").dnsSettings?.matchDomains == nil)
    }
}
