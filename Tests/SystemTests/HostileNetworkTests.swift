import Foundation
import Testing

/// Networks that try to lead traffic past a tunnel: by routes (CVE-2024-3661), by addresses on the link (CVE-2023-36672).
@Suite("Hostile networks", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct HostileNetworkTests {
    /// What a network gives to a machine.
    enum Trap: String, CaseIterable, CustomTestStringConvertible {
        /// More specific routes, as DHCP option 121 and router advertisements bring them.
        case routes
        /// Public networks that are said to be on the link.
        case addresses

        var testDescription: String { rawValue }

        func spring(on machine: Machine) throws {
            switch self {
            case .routes:
                for route in ["0.0.0.0/1", "128.0.0.0/1", "203.0.113.0/24", "203.0.113.9/32"] {
                    try machine("ip", "route", "add", route, "via", "192.0.2.1")
                }
                for route in ["::/1", "8000::/1", "2001:db8:9::/64"] {
                    try machine("ip", "route", "add", route, "via", "2001:db8::1")
                }
            case .addresses:
                try machine("ip", "address", "add", "203.0.113.2/24", "dev", "cable")
                try machine("ip", "address", "add", "198.51.100.2/25", "dev", "cable")
                try machine("ip", "address", "add", "2001:db8:9::2/64", "dev", "cable", "nodad")
            }
        }
    }

    @Test(
        "What routes lead into the tunnel enters it, whatever the network says, and none of it leaves while the tunnel is broken",
        arguments: Trap.allCases)
    func routed(trap: Trap) throws {
        try Lab.run { lab in
            let pair = try TunnelPair()
            let leaks = try Leaks(lab)
            let (peer, _) = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            #expect(try leaks.routed().count > 4, "the capture is deaf")
            let text = pair.rightFile(routes: "0.0.0.0/0, ::/0")
            let tunnel = try lab.beginTunnel(on: lab.right, text)
            try tunnel.waitFor("\nconnected phtun0")
            try trap.spring(on: lab.right)
            #expect(try leaks.routed() == [], "connected")
            try lab.right.ping("10.7.0.1")
            peer.signal(SIGSTOP)
            #expect(try leaks.routed() == [], "the peer is silent")
            peer.signal(SIGCONT)
            kill(try #require(tunnel.childProcesses().first), SIGKILL)
            #expect(try leaks.routed() == [], "worker killed")
            try tunnel.waitFor("\nconnected phtun0", moreThan: 1, seconds: 20)
            #expect(try leaks.routed() == [], "connected again")
            tunnel.signal(SIGKILL)
            try eventually("the end of the interface") { try !lab.right("ip", "-br", "link").contains("phtun0") }
            #expect(try leaks.routed() == [], "manager killed")
            // With the trap set already.
            let second = try lab.beginTunnel(on: lab.right, text)
            try second.waitFor("\nconnected phtun0")
            #expect(try leaks.routed() == [], "taken over")
            second.signal(SIGINT)
            #expect(try second.waitForExit() == 0)
            #expect(try leaks.routed().count > 4, "stopped: everything is open again")
        }
    }

    @Test(
        "With all networks included nothing leaves in any state, bound to an interface or not", arguments: Trap.allCases
    )
    func guarded(trap: Trap) throws {
        try Lab.run { lab in
            let pair = try TunnelPair()
            let leaks = try Leaks(lab)
            let (peer, _) = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            let text = pair.rightFile(routes: "0.0.0.0/0, ::/0", preparation: "sleep 3")
            let options = ["--include-all-networks", "--allow-hooks"]
            let tunnel = try lab.beginTunnel(on: lab.right, text, options: options)
            try eventually("the kill switch") {
                try lab.right("nft", "list", "ruleset").contains("providerhost_guard_phtun0")
            }
            try trap.spring(on: lab.right)
            #expect(try leaks.tried() == [], "connecting")
            #expect(!tunnel.output.contains("connected phtun0"))
            try tunnel.waitFor("\nconnected phtun0")
            try lab.right.ping("10.7.0.1")
            #expect(try leaks.tried() == [], "connected")
            peer.signal(SIGSTOP)
            #expect(try leaks.tried() == [], "the peer is silent")
            peer.signal(SIGCONT)
            kill(try #require(tunnel.childProcesses().first), SIGKILL)
            #expect(try leaks.tried() == [], "worker killed")
            try tunnel.waitFor("\nconnected phtun0", moreThan: 1, seconds: 20)
            tunnel.signal(SIGKILL)
            try eventually("the end of the interface") { try !lab.right("ip", "-br", "link").contains("phtun0") }
            #expect(try leaks.tried() == [], "manager killed")
        }
    }

    @Test("A family without a default route is blocked where a gateway pushes one for the other family alone")
    func oneFamily() throws {
        try Lab.run { lab in
            let leaks = try Leaks(lab)
            let gateway = try GatewayEnd(lab)
            try gateway("peer", "add", "alice")
            try gateway("route", "add", "0.0.0.0/0")
            let server = try gateway.start()
            let text = try gateway("export", "alice").replacingOccurrences(
                of: "[Interface]\n", with: "[Interface]\n# acceptDefaultRoute = true\n")
            let tunnel = try lab.beginTunnel(on: lab.right, text)
            try tunnel.waitFor("\nconnected phtun")
            try lab.right.ping("10.7.0.1")
            #expect(try leaks.routed() == [], "connected")
            server.signal(SIGSTOP)
            #expect(try leaks.routed() == [], "the gateway is silent")
            server.signal(SIGCONT)
            kill(try #require(tunnel.childProcesses().first), SIGKILL)
            #expect(try leaks.routed() == [], "worker killed")
            try tunnel.waitFor("\nconnected phtun", moreThan: 1, seconds: 20)
            #expect(try leaks.routed() == [], "connected again")
            tunnel.signal(SIGINT)
            #expect(try tunnel.waitForExit(seconds: 20) == 0)
            #expect(try leaks.routed().count > 4, "stopped")
        }
    }

    @Test(
        "An MTU that is too small for IPv6 lets none of it past the tunnel",
        arguments: [[], ["--include-all-networks"]])
    func smallMTU(options: [String]) throws {
        try Lab.run { lab in
            var pair = try TunnelPair()
            pair.mtu = 1200
            let leaks = try Leaks(lab)
            _ = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            // IPv6 in the tunnel needs 1280 bytes: the settings are refused as a whole.
            let refused = try lab.beginTunnel(
                on: lab.right, pair.rightFile(routes: "0.0.0.0/0, ::/0"), options: options)
            #expect(try refused.waitForExit() == 4)
            #expect(refused.output.contains("1280"), "\(refused.output)")
            let ipv4 = pair.rightFile(routes: "0.0.0.0/0").replacingOccurrences(of: ", fd07::2/64", with: "")
            let tunnel = try lab.beginTunnel(on: lab.right, ipv4, options: options)
            try tunnel.waitFor("\nconnected phtun0")
            #expect(try lab.right("cat", "/sys/class/net/phtun0/mtu") == "1200\n")
            try lab.right.ping("10.7.0.1", size: 1172)
            let left = try leaks.routed()
            #expect(left.filter { $0.contains(" IP ") } == [])
            // Without a kill switch the profile says nothing of IPv6, as with wg-quick.
            if !options.isEmpty {
                #expect(left == [])
                #expect(try leaks.tried() == [])
            }
        }
    }
}
