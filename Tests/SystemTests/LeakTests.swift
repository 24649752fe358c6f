import Foundation
import Testing

/// What leaves a machine beside its tunnel, in every state of the tunnel: nothing.
@Suite("Leaks", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct LeakTests {
    private static let everything = ["--include-all-networks", "--allow-hooks"]

    @Test(
        "With all networks included nothing leaves in clear text, in any state",
        arguments: ["0.0.0.0/0, ::/0", "0.0.0.0/0", "10.7.0.0/24, fd07::/64"])
    func everyState(_ routes: String) throws {
        try Lab.run { lab in
            let pair = try TunnelPair()
            let leaks = try Leaks(lab)
            // A killed manager cannot put this back, and nothing on the system says what it was: wg-quick never does.
            try lab.right("sysctl", "-q", "net.ipv4.conf.all.src_valid_mark=1")
            let before = try lab.right.networkState()
            #expect(try leaks.tried().count > 10, "the capture is deaf")
            let (peer, _) = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            let text = pair.rightFile(routes: routes, preparation: "sleep 3")
            let first = try lab.beginTunnel(on: lab.right, text, options: Self.everything)
            try eventually("the kill switch") {
                try lab.right("nft", "list", "ruleset").contains("providerhost_guard_phtun0")
            }
            // Before the interface is there nobody has asked for anything yet.
            let baseline = leaks.packets.count
            func expectSilence(_ state: String) throws { #expect(try leaks.tried() == [], "\(state)") }
            try expectSilence("connecting")
            #expect(!first.output.contains("connected phtun0"))
            try first.waitFor("\nconnected phtun0")
            try lab.right.ping("10.7.0.1")
            try expectSilence("connected")
            peer.signal(SIGSTOP)
            try expectSilence("the peer is silent")
            peer.signal(SIGCONT)
            kill(try #require(first.childProcesses().first), SIGKILL)
            try expectSilence("worker killed")
            try first.waitFor("\nconnected phtun0", moreThan: 1, seconds: 20)
            try expectSilence("connected again")
            first.signal(SIGKILL)
            try eventually("the end of the interface") { try !lab.right("ip", "-br", "link").contains("phtun0") }
            try expectSilence("manager killed")
            let second = try lab.beginTunnel(on: lab.right, pair.rightFile(routes: routes), options: Self.everything)
            try second.waitFor("\nconnected phtun0")
            try expectSilence("taken over")
            try lab.right.ping("10.7.0.1")
            #expect(leaks.packets.count == baseline, "\(leaks.packets.dropFirst(baseline))")
            second.signal(SIGINT)
            #expect(try second.waitForExit() == 0)
            #expect(try lab.right.networkState() == before)
            #expect(try lab.right("nft", "list", "ruleset") == "")
            #expect(try leaks.tried().count > 10, "stopped: everything is open again")
        }
    }

    @Test("With routes enforced, a socket bound to another interface cannot go round the tunnel, and others can")
    func enforcedRoutes() throws {
        try Lab.run { lab in
            let pair = try TunnelPair()
            let leaks = try Leaks(lab)
            _ = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            let text = pair.rightFile(routes: "10.7.0.0/24, 203.0.113.0/24, 2001:db8:9::/64")
            func around() throws -> [String] {
                let before = leaks.packets.count
                for host in ["203.0.113.9", "2001:db8:9::9"] {
                    _ = try lab.right.attempt("ping", "-n", "-c", "1", "-W", "0.2", "-I", "cable", host)
                }
                usleep(100_000)
                return Array(leaks.packets.dropFirst(before))
            }
            let open = try lab.beginTunnel(on: lab.right, text)
            try open.waitFor("\nconnected phtun0")
            #expect(try around().count == 2, "this is the leak")
            open.signal(SIGINT)
            #expect(try open.waitForExit() == 0)
            let enforced = try lab.beginTunnel(on: lab.right, text, options: ["--enforce-routes"])
            try enforced.waitFor("\nconnected phtun0")
            #expect(try around() == [])
            #expect(try lab.right.reaches("192.0.2.1") && lab.right.reaches("10.7.0.1"))
            enforced.signal(SIGINT)
            #expect(try enforced.waitForExit() == 0)
            #expect(try lab.right("nft", "list", "ruleset") == "")
        }
    }

    @Test("Local networks can be left out: they are reached, but not their name servers")
    func localNetworks() throws {
        try Lab.run { lab in
            let pair = try TunnelPair()
            try lab.left("ip", "address", "add", "192.168.50.1/24", "dev", "cable")
            try lab.right("ip", "address", "add", "192.168.50.2/24", "dev", "cable")
            let leaks = try Leaks(lab)
            _ = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            let tunnel = try lab.beginTunnel(
                on: lab.right, pair.rightFile(routes: "0.0.0.0/0, ::/0"),
                options: ["--include-all-networks", "--exclude-local-networks"])
            try tunnel.waitFor("\nconnected phtun0")
            #expect(try lab.right.reaches("192.168.50.1") && lab.right.reaches("10.7.0.1"))
            usleep(100_000)
            let before = leaks.packets.count
            _ = try lab.right.attempt("bash", "-c", "echo x >/dev/udp/192.168.50.1/53")
            #expect(try lab.right.reaches("192.0.2.1"), "through the tunnel: the peer answers for its outer address")
            usleep(100_000)
            #expect(leaks.packets.count == before, "\(leaks.packets.dropFirst(before))")
        }
    }

    @Test("Nobody outside finds out the tunnel's address by asking for it")
    func probes() throws {
        try Lab.run { lab in
            let pair = try TunnelPair()
            let text = pair.rightFile(routes: "10.7.0.1/32, fd07::1/128")
            let address = try lab.right("cat", "/sys/class/net/cable/address")
                .trimmingCharacters(in: .whitespacesAndNewlines)
            let expectations: [([String], Bool)] = [
                ([], true), (["--enforce-routes"], false), (["--include-all-networks"], false),
            ]
            for (options, isFound) in expectations {
                let tunnel = try lab.beginTunnel(on: lab.right, text, options: options)
                try tunnel.waitFor("\nconnected phtun0")
                let ask = try lab.left.attempt("ping", "-c", "1", "-W", "1", "-I", "cable", "10.7.0.2")
                // With the neighbour known, no question by ARP comes before the probe itself.
                try lab.left("ip", "neighbour", "replace", "10.7.0.2", "lladdr", address, "dev", "cable")
                let probe = try lab.left.attempt("ping", "-c", "1", "-W", "1", "-I", "cable", "10.7.0.2")
                try lab.left("ip", "neighbour", "del", "10.7.0.2", "dev", "cable")
                #expect([ask.status == 0, probe.status == 0] == [isFound, isFound], "\(options)")
                tunnel.signal(SIGINT)
                #expect(try tunnel.waitForExit() == 0)
            }
        }
    }

    @Test("Without the program nft a kill switch is refused before anything is made")
    func withoutProgram() throws {
        try Lab.run { lab in
            let before = try lab.right.networkState()
            let file = try lab.write("tunnel.conf", TunnelPair().rightFile)
            let run = "exec \(Lab.providerhost) run --bundle-id org.providerhost.wireguard --config \(file)"
            let hide = "for f in /usr/sbin/nft /sbin/nft; do mount --bind /dev/null $f || true; done"
            let outcome = try lab.right.attempt(
                "unshare", "-m", "sh", "-c", "\(hide); \(run) --include-all-networks")
            #expect(outcome.status == 4, "\(outcome.text)")
            #expect(outcome.text.contains("no program nft") && outcome.text.contains("nftables"))
            #expect(try lab.right.networkState() == before)
        }
    }
}
