import OnDemand
import Testing

@Suite("The network that rules look at")
struct NetworkSnapshotTests {
    @Test("The best default route names the primary interface")
    func routes() {
        let snapshot = Networks.snapshot([
            Networks.interface("eth0", metric: 200), Networks.interface("wlan0", .wiFi, metric: 100),
            Networks.interface("eth1", metric: nil),
        ])
        #expect(snapshot.primary?.name == "wlan0")
    }

    @Test("Without a default route the first interface in a network is it, but no tunnel and no loopback")
    func connected() {
        let snapshot = Networks.snapshot([
            Networks.interface("lo", .loopback, metric: nil), Networks.interface("eth9", metric: nil),
            Networks.interface("eth1", metric: nil), Networks.interface("eth0", networks: [], metric: nil),
            Networks.interface("a-tunnel", .virtual, metric: nil),
        ])
        #expect(snapshot.primary?.name == "eth1")
        #expect(Networks.snapshot([Networks.interface("lo", .loopback)]).primary == nil)
    }

    @Test("What has no carrier does not count")
    func down() {
        var cable = Networks.interface("eth0")
        cable.isRunning = false
        #expect(Networks.snapshot([cable]).primary == nil)
    }

    @Test("Tunnels of ours, and other interfaces than the primary, change nothing")
    func ownInterfaces() {
        let before = Networks.snapshot([Networks.interface()])
        var tunnel = Networks.interface("phtun0", .virtual, metric: 0)
        tunnel.isOwn = true
        #expect(Networks.snapshot([tunnel, Networks.interface()]) == before)
        #expect(Networks.snapshot([Networks.interface(), Networks.interface("veth7", metric: nil)]) == before)
        #expect(Networks.snapshot([Networks.interface(networks: ["198.51.100.0/24"])]) != before)
    }
}
