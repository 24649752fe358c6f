import Foundation
import TestSupport
import Testing

/// Endpoints that are names, where no question may leave beside the tunnel.
@Suite("Endpoints by name", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct EndpointNameTests {
    private static let name = "gw.example"

    /// Starts a tunnel whose endpoint is a name, with /etc, /run and a resolv.conf of its own.
    private func start(
        _ lab: Lab, _ text: String, resolver: String = "192.0.2.1", _ options: [String]
    ) throws -> Child {
        let folder = lab.folder.appendingPathComponent("room").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let file = try lab.write("\(UUID().uuidString).conf", text)
        let script =
            ResolverRoom.privateFolders(folder) + """
                rm -f /etc/resolv.conf
                printf 'hosts: files dns\\n' >/etc/nsswitch.conf
                printf 'nameserver \(resolver)\\noptions timeout:1 attempts:1\\n' >/etc/resolv.conf
                exec \(Lab.providerhost) run --bundle-id org.providerhost.wireguard --config \(file) --dns file \
                \(options.joined(separator: " "))
                """
        return try lab.start(on: lab.right, ["unshare", "-m", "--propagation", "private", "sh", "-c", script])
    }

    private func file(_ pair: TunnelPair) -> String {
        pair.rightFile(routes: "0.0.0.0/0, ::/0")
            .replacingOccurrences(of: "[Interface]\n", with: "[Interface]\nDNS = 10.7.0.1\n")
    }

    @Test("With all networks included a name is asked for outside, before the tunnel is up and again after a crash")
    func guarded() throws {
        try Lab.run { lab in
            var pair = try TunnelPair()
            pair.leftHost = Self.name
            let server = try NameServer(in: lab.left.namespace, name: Self.name, address: [192, 0, 2, 1])
            defer { server.stop() }
            let leaks = try Leaks(lab)
            _ = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            let tunnel = try start(lab, file(pair), ["--include-all-networks"])
            try tunnel.waitFor("\nconnected phtun0")
            try lab.right.ping("10.7.0.1")
            // The resolver is the tunnel's by now, and with the worker its sessions go.
            let before = server.questions.count
            kill(try #require(tunnel.childProcesses().first), SIGKILL)
            try tunnel.waitFor("\nconnected phtun0", moreThan: 1, seconds: 20)
            try lab.right.ping("10.7.0.1")
            #expect(server.questions.count > before)
            #expect(Set(server.questions) == [Self.name])
            let others = leaks.packets.filter { !$0.contains(" \(Self.name). ") }
            #expect(others.isEmpty, "nothing but the questions left: \(others)")
            #expect(try leaks.tried() == [])
            tunnel.signal(SIGINT)
            #expect(try tunnel.waitForExit() == 0)
        }
    }

    @Test("A crash behind a resolver of the tunnel's own does not keep the name from being found")
    func behindTheTunnel() throws {
        try Lab.run { lab in
            var pair = try TunnelPair()
            pair.leftHost = Self.name
            let server = try NameServer(in: lab.left.namespace, name: Self.name, address: [192, 0, 2, 1])
            defer { server.stop() }
            _ = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            try lab.right("ip", "route", "add", "default", "via", "192.0.2.1")
            let tunnel = try start(lab, file(pair).replacing("10.7.0.1\n", with: "10.7.0.99\n", maxReplacements: 1), [])
            try tunnel.waitFor("\nconnected phtun0")
            kill(try #require(tunnel.childProcesses().first), SIGKILL)
            try tunnel.waitFor("\nconnected phtun0", moreThan: 1, seconds: 30)
            try lab.right.ping("10.7.0.1")
        }
    }

    @Test("A peer that moves is found by its name again, without a restart, and only once it is silent")
    func moved() throws {
        try Lab.run { lab in
            var pair = try TunnelPair()
            pair.leftHost = Self.name
            // Or the other addresses would go with the first one.
            try lab.left("sysctl", "-qw", "net.ipv4.conf.cable.promote_secondaries=1")
            try lab.left("ip", "address", "add", "192.0.2.53/24", "dev", "cable")
            let server = try NameServer(
                in: lab.left.namespace, at: [192, 0, 2, 53], name: Self.name, address: [192, 0, 2, 1])
            defer { server.stop() }
            let (first, _) = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            let tunnel = try start(lab, file(pair), resolver: "192.0.2.53", [])
            try tunnel.waitFor("\nconnected phtun0")
            try lab.right.ping("10.7.0.1")
            let before = server.questions.count

            first.end()
            try lab.left("ip", "address", "add", "192.0.2.9/24", "dev", "cable")
            try lab.left("ip", "address", "del", "192.0.2.1/24", "dev", "cable")
            server.change(to: [192, 0, 2, 9])
            // It knows no endpoint of ours, so it is silent until it is spoken to.
            _ = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            try eventually(seconds: 60, "the tunnel to the new address") { try lab.right.reaches("10.7.0.1") }
            #expect(
                tunnel.output.contains(
                    "\(Self.name):51820 does not answer; its name is looked up again: 192.0.2.9:51820"))
            #expect(server.questions.count > before && Set(server.questions) == [Self.name])
            try lab.right.ping("10.7.0.1")
            #expect(tunnel.isRunning && tunnel.output.components(separatedBy: "\nconnected phtun0").count == 2)
        }
    }

    @Test("A name that nobody knows, and a server that is silent, fail the start and say who was asked")
    func refused() throws {
        try Lab.run { lab in
            var pair = try TunnelPair()
            pair.leftHost = "other.example"
            let server = try NameServer(in: lab.left.namespace, name: Self.name, address: [192, 0, 2, 1])
            defer { server.stop() }
            let unknown = try start(lab, file(pair), ["--include-all-networks"])
            #expect(try unknown.waitForExit(seconds: 20) == 4)
            #expect(unknown.output.contains("there is no such name (asked: 192.0.2.1)"), "\(unknown.output)")
            let silent = try start(lab, file(pair), resolver: "192.0.2.77", ["--include-all-networks"])
            #expect(try silent.waitForExit(seconds: 20) == 4)
            #expect(silent.output.contains("answered (asked: 192.0.2.77)"), "\(silent.output)")
        }
    }

    @Test("A spoofed answer moves nobody's traffic out of the tunnel", arguments: [[], ["--include-all-networks"]])
    func spoofed(options: [String]) throws {
        try Lab.run { lab in
            var pair = try TunnelPair()
            pair.leftHost = Self.name
            // Whoever answers says that the gateway is where the victim's traffic goes.
            let server = try NameServer(in: lab.left.namespace, name: Self.name, address: [203, 0, 113, 9])
            defer { server.stop() }
            let leaks = try Leaks(lab)
            let tunnel = try start(lab, file(pair), options)
            try tunnel.waitFor("\nconnected phtun0")
            #expect(server.questions.contains(Self.name))
            // The handshakes alone go there, and nobody there has the key.
            #expect(try leaks.routed() == [])
            if !options.isEmpty { #expect(try leaks.tried() == []) }
        }
    }
}
