import Foundation
import Testing

/// The tunnel against Debian's wireguard-go, driven by `wg`: the left end is the peer's, the right end is ours.
@Suite("Against wireguard-go", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct WireGuardInteropTests {
    /// One pair of ends, brought up with ours on the right.
    private func withTunnel(
        _ change: (inout TunnelPair) -> Void = { _ in }, mtu: Int? = nil, cable: Int = 1500,
        _ body: (Lab, Child, String) throws -> Void
    ) throws {
        try Lab.run(mtu: cable) { lab in
            var pair = try TunnelPair()
            pair.mtu = mtu
            change(&pair)
            let (_, interface) = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1, mtu: mtu)
            let ours = try lab.startTunnel(on: lab.right, pair.rightFile)
            try body(lab, ours, interface)
        }
    }

    @Test("We initiate: IPv4 and IPv6 inside, every size")
    func weInitiate() throws {
        try withTunnel { lab, _, interface in
            try lab.right.ping("10.7.0.1")
            try lab.right.ping("fd07::1")
            for size in [0, 1, 15, 16, 17, 500, 1391, 1392] { try lab.right.ping("10.7.0.1", count: 1, size: size) }
            try lab.right.ping("fd07::1", count: 1, size: 1372)
            let shown = try lab.left("wg", "show", interface, "latest-handshakes")
            #expect(!shown.contains("\t0\n"))
        }
    }

    @Test("It initiates")
    func itInitiates() throws {
        try withTunnel({
            $0.endpointAtLeft = true
            $0.endpointAtRight = false
        }) { lab, _, _ in
            try lab.left.ping("10.7.0.2")
            try lab.left.ping("fd07::2")
        }
    }

    @Test("Both initiate at once")
    func bothInitiate() throws {
        try withTunnel({ $0.endpointAtLeft = true }) { lab, _, _ in
            let far = try lab.start(on: lab.left, ["ping", "-c", "20", "-i", "0.1", "-W", "5", "10.7.0.2"])
            try lab.right.ping("10.7.0.1", count: 20)
            #expect(try far.waitForExit() == 0, "\(far.output)")
            #expect(far.output.contains(" 0% packet loss"))
        }
    }

    @Test("Preshared key, and a wrong one carries nothing")
    func presharedKey() throws {
        let key = try Machine.host("wg", "genpsk").trimmingCharacters(in: .whitespacesAndNewlines)
        try withTunnel({ $0.presharedKey = key }) { lab, _, interface in
            try lab.right.ping("10.7.0.1")
            let other = try Machine.host("wg", "genpsk")
            let publicKey = try lab.left("wg", "show", interface, "peers").trimmingCharacters(
                in: .whitespacesAndNewlines)
            try lab.left("wg", "set", interface, "peer", publicKey, "remove")
            try lab.left(
                "wg", "set", interface, "peer", publicKey, "allowed-ips", "10.7.0.2/32", "preshared-key",
                lab.write("other.psk", other))
            #expect(try !lab.right.reaches("10.7.0.1"))
        }
    }

    @Test("IPv6 outside")
    func outerIPv6() throws {
        try withTunnel({ $0.leftHost = "[2001:db8::1]" }) { lab, _, interface in
            try lab.right.ping("10.7.0.1")
            try lab.right.ping("fd07::1")
            #expect(try lab.left("wg", "show", interface, "endpoints").contains("[2001:db8::2]"))
        }
    }

    @Test("An MTU of 9000 on a cable of 9100")
    func jumboFrames() throws {
        try withTunnel(mtu: 9000, cable: 9100) { lab, _, _ in
            try lab.right.ping("10.7.0.1", size: 8972)
            try lab.right.ping("fd07::1", size: 8952)
        }
    }

    @Test("An MTU larger than the cable's goes through in fragments")
    func fragmentsOutside() throws {
        try withTunnel(mtu: 9000) { lab, _, _ in try lab.right.ping("10.7.0.1", size: 8972) }
    }

    @Test("A transfer arrives byte for byte, both ways")
    func transfer() throws {
        try withTunnel { lab, _, _ in
            let file = lab.folder.appendingPathComponent("data").path
            try Machine.host("bash", "-c", "head -c 20000000 /dev/urandom > \(file)")
            let sum = try Machine.host("bash", "-c", "sha256sum < \(file)")
            for (sender, receiver, address) in [(lab.right, lab.left, "10.7.0.1"), (lab.left, lab.right, "fd07::2")] {
                let sink = try lab.start(on: receiver, ["bash", "-c", "ncat -l 7000 --recv-only | sha256sum"])
                try eventually("the listener") { try receiver("ss", "-Hltn", "sport = :7000").contains("7000") }
                try sender("bash", "-c", "ncat --send-only \(address) 7000 < \(file)")
                _ = try sink.waitForExit(seconds: 30)
                #expect(sink.output == sum)
            }
        }
    }

    @Test("It is killed and comes back")
    func peerRestarts() throws {
        try Lab.run { lab in
            let pair = try TunnelPair()
            let (peer, _) = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            _ = try lab.startTunnel(on: lab.right, pair.rightFile)
            try lab.right.ping("10.7.0.1")
            peer.signal(SIGKILL)
            _ = try peer.waitForExit()
            #expect(try !lab.right.reaches("10.7.0.1"))
            _ = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            // No answer for KEEPALIVE_TIMEOUT + REKEY_TIMEOUT (15 s) makes our end initiate again.
            try eventually(seconds: 25, "traffic after the restart") { try lab.right.reaches("10.7.0.1") }
        }
    }

    @Test("Our address roams, and the peer follows authenticated packets")
    func roaming() throws {
        try withTunnel { lab, _, interface in
            try lab.right.ping("10.7.0.1")
            try lab.right("ip", "address", "del", "192.0.2.2/24", "dev", "cable")
            try lab.right("ip", "address", "add", "192.0.2.77/24", "dev", "cable")
            try eventually("traffic from the new address") { try lab.right.reaches("10.7.0.1") }
            #expect(try lab.left("wg", "show", interface, "endpoints").contains("192.0.2.77:"))
        }
    }

    @Test("200 peers at one interface, of which every eighth connects")
    func manyPeers() throws {
        try Lab.run { lab in
            let gateway = try KeyPair()
            var file = "[Interface]\nPrivateKey = \(gateway.privateKey)\nListenPort = 51820\nAddress = 10.8.0.1/16\n"
            var clients: [KeyPair] = []
            for number in 0..<200 {
                let pair = try KeyPair()
                clients.append(pair)
                file += "[Peer]\nPublicKey = \(pair.publicKey)\nAllowedIPs = 10.8.1.\(number + 1)/32\n"
            }
            _ = try lab.startTunnel(on: lab.left, file)
            let interface = "wg\(UInt32.random(in: 0...99_999_999))"
            _ = try lab.start(on: lab.right, ["wireguard-go", "-f", interface])
            try eventually("the control socket") {
                FileManager.default.fileExists(atPath: "/var/run/wireguard/\(interface).sock")
            }
            try lab.right("ip", "link", "set", interface, "up")
            try lab.right("ip", "address", "add", "10.8.1.1/32", "dev", interface)
            try lab.right("ip", "route", "add", "10.8.0.0/16", "dev", interface)
            // One wireguard-go plays every client in turn: key, address and source port change, so each is a new session.
            for (number, client) in clients.enumerated() where number % 8 == 0 {
                try lab.right(
                    "wg", "setconf", interface,
                    lab.write(
                        "client.conf",
                        """
                        [Interface]
                        PrivateKey = \(client.privateKey)
                        [Peer]
                        PublicKey = \(gateway.publicKey)
                        Endpoint = 192.0.2.1:51820
                        AllowedIPs = 10.8.0.0/16
                        """))
                try lab.right("ip", "address", "flush", "dev", interface)
                try lab.right("ip", "address", "add", "10.8.1.\(number + 1)/32", "dev", interface)
                try lab.right("ip", "route", "replace", "10.8.0.0/16", "dev", interface)
                try lab.right.ping("10.8.0.1", count: 1)
            }
        }
    }
}

/// Runs beside the others: it mostly sleeps.
@Suite("A long time idle", .enabled(if: isRoot, "needs root for namespaces"))
struct IdleTests {
    @Test("130 s idle, then traffic at once, over a rekey")
    func rekey() throws {
        try Lab.run { lab in
            let pair = try TunnelPair()
            let (_, interface) = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            _ = try lab.startTunnel(on: lab.right, pair.rightFile)
            try lab.right.ping("10.7.0.1")
            let before = try lab.left("wg", "show", interface, "latest-handshakes")
            sleep(130)
            try lab.right.ping("10.7.0.1", count: 10)
            let after = try lab.left("wg", "show", interface, "latest-handshakes")
            #expect(before != after, "a key older than REKEY_AFTER_TIME is replaced when it is used again")
        }
    }
}
