import Foundation
import Testing

/// Tunnels in a network namespace of their own.
@Suite("Isolation", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct IsolationTests {
    /// A tunnel at the right machine whose interface and namespace have a name that no other test has.
    private struct Tunnel {
        let lab: Lab
        let name = "phtun\(Int.random(in: 1000...9_999_999))"
        let file: String

        init(_ lab: Lab, _ text: String) {
            self.lab = lab
            file = text
        }

        /// What is inside.
        var inside: Machine { Machine(namespace: name) }
        var places: [String] { ["/run/netns/\(name)", "/etc/netns/\(name)"] }
        var isThere: [Bool] { places.map { FileManager.default.fileExists(atPath: $0) } }

        /// `ip netns exec` makes mounts of its own, and a namespace that is named inside of them has no name outside.
        static let outside = ["nsenter", "--mount=/proc/\(getpid())/ns/mnt"]

        func start() throws -> Child {
            try lab.startTunnel(
                on: lab.right, file, options: ["--interface", name, "--isolation", "namespace"], prefix: Self.outside)
        }

        func kill(_ child: Child) throws {
            child.signal(SIGKILL)
            _ = try child.waitForExit()
            try eventually("the end of the interface") { try !inside("ip", "-br", "link").contains(name) }
            #expect(isThere == [true, true])
        }
    }

    /// The right machine without the sockets of a tunnel.
    private func surroundings(_ lab: Lab) throws -> String {
        try lab.right("ip", "-br", "link") + lab.right("ip", "-br", "-4", "address") + lab.right.routesAndRules()
            + lab.right("nft", "list", "ruleset")
    }

    @Test("Inside, everything goes by the tunnel or nowhere; outside, nothing changes")
    func everything() throws {
        try Lab.run { lab in
            let before = try lab.right.networkState()
            let around = try surroundings(lab)
            let pair = try TunnelPair()
            _ = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            let tunnel = Tunnel(
                lab,
                pair.rightFile(routes: "0.0.0.0/0, ::/0").replacingOccurrences(
                    of: "[Interface]\n", with: "[Interface]\nDNS = 10.7.0.1, corp.example\n"))
            let child = try tunnel.start()
            let capture = try lab.start(
                on: lab.left,
                [
                    "tcpdump", "-l", "-n", "-i", "cable", "-Q", "in", "--immediate-mode",
                    "(ip or ip6) and not udp port 51820 and not icmp6 and not (ip6 and ip6[6] == 0)",
                ])
            try capture.waitFor("listening on")
            for address in ["10.7.0.1", "fd07::1", "192.0.2.1", "2001:db8::1"] { try tunnel.inside.ping(address) }
            _ = try tunnel.inside.attempt("ping", "-c", "1", "-W", "1", "198.51.100.7")
            let links = try tunnel.inside("ip", "-br", "link").split(separator: "\n").map {
                $0.split(separator: " ")[0]
            }
            #expect(Set(links) == ["lo", Substring(tunnel.name)])
            let resolver = try tunnel.inside("cat", "/etc/resolv.conf")
            #expect(resolver.hasSuffix("\nnameserver 10.7.0.1\nsearch corp.example\n"), "\(resolver)")
            #expect(try !lab.right.reaches("10.7.0.1"))
            #expect(try surroundings(lab) == around)
            #expect(
                try lab.right("cat", "/etc/resolv.conf") == String(contentsOfFile: "/etc/resolv.conf", encoding: .utf8))
            #expect(!capture.output.contains(" IP ") && !capture.output.contains(" IP6 "), "\(capture.output)")

            child.signal(SIGINT)
            #expect(try child.waitForExit() == 0, "\(child.output)")
            #expect(tunnel.isThere == [false, false])
            #expect(try lab.right.networkState() == before)
        }
    }

    @Test("Inside, what no route of the tunnel covers has no route, whichever address it begins from")
    func split() throws {
        try Lab.run { lab in
            let pair = try TunnelPair()
            _ = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            let tunnel = Tunnel(lab, pair.rightFile)
            let child = try tunnel.start()
            try tunnel.inside.ping("10.7.0.1")
            for address in ["192.0.2.1", "192.0.2.2", "203.0.113.9", "2001:db8::1"] {
                let outcome = try tunnel.inside.attempt("ping", "-c", "1", "-W", "1", address)
                #expect(outcome.status != 0 && outcome.text.contains("unreachable"), "\(outcome.text)")
            }
            // A worker that dies gets a successor, and what is inside stays there meanwhile.
            let connected = child.output.components(separatedBy: "connected \(tunnel.name)").count - 1
            for worker in child.childProcesses() { kill(worker, SIGKILL) }
            try child.waitFor("connected \(tunnel.name)", moreThan: connected)
            try tunnel.inside.ping("10.7.0.1")
        }
    }

    @Test("What a killed tunnel left ends with its next start, with any other, and with a sweep")
    func killed() throws {
        try Lab.run { lab in
            let before = try lab.right.networkState()
            let pair = try TunnelPair()
            _ = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            let tunnel = Tunnel(lab, pair.rightFile)
            try tunnel.kill(try tunnel.start())
            try tunnel.kill(try tunnel.start())
            let other = Tunnel(lab, pair.rightFile)
            let next = try other.start()
            #expect(next.output.contains("Removed the network namespace \(tunnel.name)"), "\(next.output)")
            #expect(tunnel.isThere == [false, false])
            try other.inside.ping("10.7.0.1")
            func sweep() throws -> Outcome {
                try Machine.outcome(
                    ["ip", "netns", "exec", lab.right.namespace] + Tunnel.outside + [Lab.providerhost, "sweep"])
            }
            #expect(try sweep().status == 0)
            #expect(other.isThere == [true, true])
            try other.inside.ping("10.7.0.1")
            try other.kill(next)
            let outcome = try sweep()
            #expect(
                outcome.status == 0 && outcome.text.contains("removed namespace \(other.name)\n"), "\(outcome.text)")
            #expect(other.isThere == [false, false])
            #expect(try lab.right.networkState() == before)
        }
    }

    @Test("A namespace of somebody else is left alone, and the message names it")
    func taken() throws {
        try Lab.run { lab in
            let tunnel = Tunnel(lab, try TunnelPair().rightFile)
            try Machine.host("ip", "netns", "add", tunnel.name)
            defer { _ = try? Machine.host("ip", "netns", "del", tunnel.name) }
            let file = try lab.write("taken.conf", tunnel.file)
            let run = [Lab.providerhost, "run", "--bundle-id", "org.providerhost.wireguard", "--config", file]
            let outcome = try Machine.outcome(
                ["ip", "netns", "exec", lab.right.namespace] + Tunnel.outside + run
                    + ["--interface", tunnel.name, "--isolation", "namespace"])
            #expect(outcome.status == 4 && outcome.text.contains("/run/netns/\(tunnel.name)"), "\(outcome.text)")
            #expect(tunnel.isThere == [true, false])
            #expect(try tunnel.inside("ip", "-br", "link").hasPrefix("lo "))
        }
    }
}
