import Netlink
import OnDemand
import Testing

@testable import HostRuntime

@Suite("Interfaces as on-demand rules see them")
struct NetworkObserverTests {
    /// IFF_UP, IFF_LOOPBACK, IFF_POINTOPOINT and IFF_RUNNING of linux/if.h.
    private static let up: UInt32 = 0x1
    private static let loopback: UInt32 = 0x8
    private static let pointToPoint: UInt32 = 0x10
    private static let running: UInt32 = 0x40

    private func link(
        _ name: String, kind: String? = nil, alias: String? = nil, flags: UInt32 = Self.up | Self.running
    ) -> Link {
        var link = Link(index: 3, name: name, flags: flags, mtu: 1500, kind: kind)
        link.alias = alias
        return link
    }

    private func interface(_ link: Link, _ wireless: WirelessInterface? = nil) -> NetworkInterface {
        NetworkInterface(link, addresses: [], routes: [], wireless)
    }

    @Test("Kinds: cables and bridges, Wi-Fi by nl80211, modems, tunnels of others")
    func kinds() {
        for kind in [nil, "veth", "bridge", "bond", "vlan", "dummy"] {
            #expect(interface(link("eth0", kind: kind)).kind == .ethernet)
        }
        for kind in ["tun", "wireguard", "gre", "xfrm"] {
            #expect(interface(link("other", kind: kind)).kind == .virtual)
        }
        #expect(interface(link("ppp0", flags: Self.up | Self.running | Self.pointToPoint)).kind == .virtual)
        #expect(interface(link("wwan0", flags: Self.up | Self.running | Self.pointToPoint)).kind == .cellular)
        #expect(interface(link("lo", flags: Self.up | Self.running | Self.loopback)).kind == .loopback)
        let wireless = interface(link("wlp3s0"), WirelessInterface(index: 3, ssid: "home"))
        #expect(wireless.kind == .wiFi && wireless.ssid == "home")
    }

    @Test("Ours are known by name, and with any other name by the alias that they bear")
    func own() {
        #expect(interface(link("phtun0", kind: "tun")).isOwn)
        #expect(interface(link("office", kind: "tun", alias: "providerhost slot 7")).isOwn)
        #expect(!interface(link("office", kind: "tun", alias: "a tunnel")).isOwn)
        #expect(!interface(link("phtunnel")).isOwn)
    }

    @Test("Up is not enough: there must be a carrier")
    func carrier() {
        #expect(interface(link("eth0")).isRunning)
        #expect(!interface(link("eth0", flags: Self.up)).isRunning)
        #expect(!interface(link("eth0", flags: Self.running)).isRunning)
    }

    @Test("Networks without link-local ones, and default routes with their routers")
    func networks() throws {
        let addresses = try ["192.0.2.7", "169.254.1.2", "fe80::7", "2001:db8::7"].map { text in
            let address = try #require(IPAddress(text))
            return InterfaceAddress(
                interface: 3, address: address, prefixLength: address.family == .ipv4 ? 24 : 64)
        }
        let gateway = try #require(IPAddress("192.0.2.1"))
        let route = Route(.everything(.ipv4), interface: 3, gateway: gateway, metric: 100, protocolNumber: 3)
        let interface = NetworkInterface(link("eth0"), addresses: addresses, routes: [route], nil)
        #expect(interface.networks == ["192.0.2.0/24", "2001:db8::/64"])
        #expect(interface.defaultRoutes == [.init(gateway: "192.0.2.1", metric: 100)])
    }
}
