import Netlink
import ProviderKit
import Testing

@testable import NetworkSettings

/// What the kernel lists of a machine, as a provider is told of it.
@Suite("The machine's networks")
struct HostNetworksTests {
    private let links = [
        Link(index: 1, name: "lo", flags: 0x9, mtu: 65_536), Link(index: 2, name: "eth0", flags: 1, mtu: 1500),
        Link(index: 3, name: "eth1", flags: 1, mtu: 9000), Link(index: 7, name: "phtun0", flags: 1, mtu: 1420),
    ]

    private func address(_ interface: UInt32, _ text: String, _ length: Int) throws -> InterfaceAddress {
        InterfaceAddress(interface: interface, address: try #require(IPAddress(text)), prefixLength: length)
    }

    @Test("The tunnel's own addresses and those of the loopback interface are not among them")
    func addresses() throws {
        let networks = HostNetworks(
            links: links,
            addresses: [
                try address(1, "127.0.0.1", 8), try address(2, "192.0.2.2", 24), try address(7, "10.7.0.2", 24),
                try address(3, "fd00::2", 64), try address(99, "10.0.0.1", 8),
            ], main: [], beside: 7)
        #expect(
            networks
                == HostNetworks(addresses: [
                    .init(interface: "eth0", address: "192.0.2.2", prefixLength: 24, mtu: 1500),
                    .init(interface: "eth1", address: "fd00::2", prefixLength: 64, mtu: 9000),
                ]))
    }

    @Test("The way out is the best default route that does not lead into the tunnel")
    func wayOut() {
        func route(_ interface: UInt32, metric: UInt32) -> Route {
            Route(.everything(.ipv4), interface: interface, metric: metric, protocolNumber: 3)
        }
        let routes = [route(7, metric: 0), route(3, metric: 100), route(2, metric: 50)]
        #expect(HostNetworks(links: links, addresses: [], main: routes, beside: 7).defaultRouteMTU == 1500)
        #expect(HostNetworks(links: links, addresses: [], main: [routes[0]], beside: 7).defaultRouteMTU == nil)
    }
}
