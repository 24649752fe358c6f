import Foundation
import Testing

/// The scenarios of WireGuard's own test scripts, ours on both ends and against Debian's wireguard-go in either role.
@Suite("The scenarios of WireGuard's scripts", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct ScenarioTests {
    @Test(
        "Traffic of every kind, counted to the byte, over IPv4 and IPv6, with small and large MTU",
        arguments: Scene.Programs.all)
    func traffic(programs: Scene.Programs) throws {
        try Scene.aroundLoopback(programs) { scene, _ in
            let (first, second) = (scene.first, scene.second)
            try scene.set(first, "endpoint", "127.0.0.1:20000")
            try scene.set(second, "endpoint", "127.0.0.1:10000")
            try second.machine("ping", "-c", "10", "-f", "-W", "1", "192.168.241.1")
            // 148 and 92 bytes of handshake, 10 packets of 84 + 12 + 32, a keepalive of 32 in between.
            let transfer = try Machine.host("wg", "show", second.interface, "transfer").split(separator: "\t")
            #expect(transfer[1] == "1372")
            #expect(["1428\n", "1460\n"].contains(transfer[2]), "\(transfer)")
            #expect(try !Machine.host("wg", "show", second.interface, "latest-handshakes").hasSuffix("\t0\n"))

            for (firstOutside, secondOutside) in [("127.0.0.1", "127.0.0.1"), ("[::1]", "[::1]")] {
                try scene.set(first, "endpoint", "\(secondOutside):20000")
                try scene.set(second, "endpoint", "\(firstOutside):10000")
                for mtu in [1420, 34736] {
                    for end in [first, second] {
                        try end.machine("ip", "link", "set", end.interface, "mtu", "\(mtu)")
                    }
                    for (end, address) in [
                        (second, "192.168.241.1"), (first, "192.168.241.2"), (second, "fd00::1"), (first, "fd00::2"),
                    ] {
                        try end.machine("ping", "-c", "10", "-f", "-W", "1", address)
                    }
                    try scene.transfer(from: first, to: "192.168.241.2", at: second, "-Z", "-n", "20M")
                    try scene.transfer(from: second, to: "fd00::1", at: first, "-Z", "-n", "20M")
                    try scene.transfer(from: second, to: "192.168.241.1", at: first, "-n", "20M", "-b", "0", "-u")
                    try scene.transfer(from: first, to: "fd00::2", at: second, "-n", "20M", "-b", "0", "-u")
                }
            }
        }
    }

    @Test("Ports change under us, and both families: the far end follows within a ping", arguments: Scene.Programs.all)
    func roaming(programs: Scene.Programs) throws {
        try Scene.aroundLoopback(programs) { scene, outside in
            let (first, second) = (scene.first, scene.second)
            try scene.set(first, "endpoint", "127.0.0.1:20000")
            try first.machine.pingOnce("192.168.241.2")
            try outside("ip", "-4", "address", "del", "127.0.0.1/8", "dev", "lo")
            try outside("ip", "-4", "address", "add", "127.212.121.99/8", "dev", "lo")
            try Machine.host("wg", "set", first.interface, "listen-port", "9999")
            try scene.set(first, "endpoint", "127.0.0.1:20000")
            try first.machine.pingOnce("fd00::2")
            #expect(try scene.endpoint(at: second) == "127.212.121.99:9999")
            try Machine.host("wg", "set", first.interface, "listen-port", "9998")
            try scene.set(first, "endpoint", "[::1]:20000")
            try first.machine.pingOnce("192.168.241.2")
            #expect(try scene.endpoint(at: second) == "[::1]:9998")

            // A more specific prefix of another peer takes the source address away; the endpoint is followed all the same.
            try scene.set(first, "allowed-ips", "192.168.241.0/24")
            #expect(try hears(first, from: second))
            let other = try KeyPair().publicKey
            try Machine.host("wg", "set", first.interface, "peer", other, "allowed-ips", "192.168.241.2/32")
            try Machine.host("wg", "set", second.interface, "listen-port", "9997")
            #expect(try !hears(first, from: second))
            try Machine.host("wg", "set", first.interface, "peer", other, "remove")
            #expect(try scene.endpoint(at: first) == "[::1]:9997")
        }
    }

    /// Whether a datagram from one end comes out at the other.
    private func hears(_ receiver: Scene.End, from sender: Scene.End) throws -> Bool {
        let line =
            "timeout -s KILL 1.5 ncat -l -u -p 1111 > $0 & "
            + "while [ -z \"$(ss -Huln 'sport = :1111')\" ]; do sleep 0.05; done; echo ready; wait; true"
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ip", "netns", "exec", receiver.machine.namespace, "bash", "-c", line, file]
        process.standardOutput = FileHandle.nullDevice
        try process.runUnmasked()
        try eventually("ncat") { try !receiver.machine("ss", "-Huln", "sport = :1111").isEmpty }
        try sender.machine.shell("echo X | ncat -u --send-only 192.168.241.1 1111")
        process.waitUntilExit()
        return try String(contentsOfFile: file, encoding: .utf8).contains("X")
    }

    @Test("Behind NAT, a keepalive per second keeps the way open", arguments: Scene.Programs.all)
    func addressTranslation(programs: Scene.Programs) throws {
        try Lab.run { lab in
            let router = try lab.addMachine()
            let homes = try (lab.addMachine(), lab.addMachine())
            for (home, name, router0, address) in [
                (homes.0, "client", "192.168.1.1/24", "192.168.1.100/24"),
                (homes.1, "server", "10.0.0.1/24", "10.0.0.100/24"),
            ] {
                try Machine.host(
                    "ip", "link", "add", "uplink", "netns", home.namespace, "type", "veth", "peer", "name", name,
                    "netns",
                    router.namespace)
                try router("ip", "address", "add", router0, "dev", name)
                try home("ip", "address", "add", address, "dev", "uplink")
                try router("ip", "link", "set", name, "up")
                try home("ip", "link", "set", "uplink", "up")
            }
            try homes.0("ip", "route", "add", "default", "via", "192.168.1.1")
            try router.shell(
                """
                echo 1 > /proc/sys/net/ipv4/ip_forward
                nft 'table ip translate { chain out { type nat hook postrouting priority srcnat; \
                ip saddr 192.168.1.0/24 ip daddr 10.0.0.0/24 snat to 10.0.0.1; }; }'
                for f in udp_timeout udp_timeout_stream; do echo 2 > /proc/sys/net/netfilter/nf_conntrack_$f; done
                """)
            let scene = try Scene(lab, programs, birth: homes, homes: homes)
            try scene.set(scene.first, "endpoint", "10.0.0.100:20000", "persistent-keepalive", "1")
            try homes.0.pingOnce("192.168.241.2")
            try homes.1.pingOnce("192.168.241.1")
            #expect(try scene.endpoint(at: scene.second) == "10.0.0.1:10000")
            sleep(3)
            try homes.1.pingOnce("192.168.241.1")
        }
    }

    @Test("Sources stick to what the peer spoke to, but not to an address that is gone", arguments: Scene.Programs.all)
    func stickySource(programs: Scene.Programs) throws {
        try Lab.run { lab in
            let homes = try (lab.addMachine(), lab.addMachine())
            let scene = try Scene(lab, programs, birth: homes, homes: homes)
            try Machine.host(
                "ip", "link", "add", "veth1", "netns", homes.0.namespace, "type", "veth", "peer", "name", "veth2",
                "netns", homes.1.namespace)
            try homes.0.shell("echo 1 > /proc/sys/net/ipv4/conf/veth1/promote_secondaries")
            func give(_ machine: Machine, _ device: String, _ addresses: String...) throws {
                for address in addresses {
                    try machine.shell("ip address add \(address) dev \(device) \(address.contains(":") ? "nodad" : "")")
                }
            }
            try give(homes.0, "veth1", "10.0.0.1/24", "fd00:aa::1/96")
            try give(homes.1, "veth2", "10.0.0.2/24", "fd00:aa::2/96")
            try homes.0("ip", "link", "set", "veth1", "up")
            try homes.1("ip", "link", "set", "veth2", "up")
            try eventually("the cable") { try homes.0.reaches("10.0.0.2") && homes.0.reaches("fd00:aa::2") }
            for (endpoint, old, new) in [
                ("10.0.0.2:20000", "10.0.0.1/24", "10.0.0.10/24"),
                ("[fd00:aa::2]:20000", "fd00:aa::1/96", "fd00:aa::10/96"),
            ] {
                try scene.set(scene.first, "endpoint", endpoint)
                try homes.0.pingOnce("192.168.241.2")
                try give(homes.0, "veth1", new)
                try homes.0("ip", "address", "del", old, "dev", "veth1")
                // Debian's wireguard-go sticks to the address that is gone, also against itself.
                if programs.first == .ours { try homes.0.pingOnce("192.168.241.2") }
            }
            // With two addresses each, the answer comes from the one that was spoken to.
            for (machine, device) in [(homes.0, "veth1"), (homes.1, "veth2")] {
                // Down and up again, so that each gets a link-local address for its neighbours.
                try machine("ip", "link", "set", device, "down")
                try machine("ip", "address", "flush", "dev", device)
                try machine("ip", "link", "set", device, "up")
            }
            try give(homes.0, "veth1", "10.0.0.1/24", "10.0.0.2/24", "fd00:aa::1/96", "fd00:aa::2/96")
            try give(homes.1, "veth2", "10.0.0.3/24", "fd00:aa::3/96")
            try eventually("the cable") { try homes.1.reaches("10.0.0.2") && homes.1.reaches("fd00:aa::2") }
            for endpoint in ["10.0.0.1:10000", "[fd00:aa::1]:10000", "10.0.0.2:10000", "[fd00:aa::2]:10000"] {
                try scene.set(scene.second, "endpoint", endpoint)
                try homes.1.pingOnce("192.168.241.1")
                #expect(try scene.endpoint(at: scene.second) == endpoint)
            }
        }
    }

    @Test(
        "A better route by another interface takes the traffic over, and back",
        arguments: [DropIn.ours, .wireguardGo], [4, 6])
    func betterRoute(second: DropIn, family: Int) throws {
        try Lab.run { lab in
            let (left, right) = (lab.left, lab.right)
            let scene = try Scene(
                lab, Scene.Programs(first: .ours, second: second), birth: (left, right), homes: (left, right))
            let (target, ways, old, new) =
                family == 4
                ? ("198.51.100.2", ["192.0.2.2", "203.0.113.2"], "192.0.2.1:10000", "203.0.113.1:10000")
                : (
                    "2001:db8:9::2", ["2001:db8::2", "2001:db8:1::2"], "[2001:db8::1]:10000", "[2001:db8:1::1]:10000"
                )
            try Machine.host(
                "ip", "link", "add", "better", "netns", left.namespace, "type", "veth", "peer", "name", "better",
                "netns", right.namespace)
            for (machine, last) in [(left, 1), (right, 2)] {
                try machine("ip", "address", "add", "203.0.113.\(last)/24", "dev", "better")
                try machine("ip", "address", "add", "2001:db8:1::\(last)/64", "dev", "better", "nodad")
                try machine("ip", "link", "set", "better", "up")
            }
            try right("ip", "address", "add", target, "dev", "lo")
            try left("ip", "route", "add", target, "via", ways[0], "metric", "20")
            try eventually("the cables") { try ways.allSatisfy { try left.reaches($0) } }
            try scene.set(scene.first, "endpoint", family == 4 ? "\(target):20000" : "[\(target)]:20000")
            try left.pingOnce("192.168.241.2")
            #expect(try scene.endpoint(at: scene.second) == old)
            try left("ip", "route", "add", target, "via", ways[1], "metric", "10")
            try left.pingOnce("192.168.241.2")
            #expect(try scene.endpoint(at: scene.second) == new)
            try left("ip", "route", "del", target, "via", ways[1], "metric", "10")
            try left.pingOnce("192.168.241.2")
            #expect(try scene.endpoint(at: scene.second) == old)
        }
    }
}
