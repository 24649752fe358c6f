import Foundation
import TestSupport
import Testing

/// A gateway and its clients, both by the program: what the operator decides is what the clients have.
@Suite("Gateway", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct GatewayTests {
    /// How soon a change reaches a client.
    private static let promptly = 2.5

    @Test("A client with keys and endpoint only gets everything from the gateway, and follows its changes")
    func pushed() throws {
        try Lab.run { lab in
            // The cable's own addresses have settled then.
            try lab.right.ping("192.0.2.1")
            let before = try [lab.left.networkState(), lab.right.networkState()]
            let gateway = try GatewayEnd(lab)
            let server = try gateway.start()
            #expect(try lab.left("ip", "-br", "address", "show", gateway.interface).contains("10.7.0.1/24"))
            #expect(try lab.left("ip", "-br", "address", "show", gateway.interface).contains("fd07::1/64"))
            let address = try self.address(in: gateway("peer", "add", "alice"))
            try gateway("route", "add", "10.20.0.0/16")
            try gateway("mtu", "set", "1380")

            let client = try gateway.startClient("alice")
            #expect(try lab.right("ip", "-br", "address", "show", "phtun0").contains("\(address)/32"))
            #expect(try lab.right("cat", "/sys/class/net/phtun0/mtu") == "1380\n")
            #expect(try lab.right.routes().isSuperset(of: ["10.7.0.0/24", "fd07::/64", "10.20.0.0/16"]))
            try lab.right.ping("10.7.0.1")
            try lab.right.ping("fd07::1")
            try eventually("the result at the gateway") { try gateway("results").contains("alice  applied") }

            try gateway("route", "add", "10.30.0.0/16")
            try eventually(seconds: Self.promptly, "the route at the client") {
                try lab.right.routes().contains("10.30.0.0/16")
            }
            try gateway("route", "remove", "10.20.0.0/16")
            try eventually(seconds: Self.promptly, "the end of the route at the client") {
                try !lab.right.routes().contains("10.20.0.0/16")
            }
            try eventually("the latest result at the gateway") {
                let text = try gateway("results")
                return text.contains("alice  applied") && !text.contains("is offered")
            }
            try lab.right.ping("10.7.0.1")

            try gateway("peer", "remove", "alice")
            try eventually("the end of the client's session") { try !lab.right.reaches("10.7.0.1") }
            #expect(try lab.left("wg", "show", gateway.interface, "peers").isEmpty)
            client.signal(SIGINT)
            #expect(try client.waitForExit(seconds: 20) == 0)
            server.signal(SIGINT)
            #expect(try server.waitForExit(seconds: 20) == 0, "\(server.output)")
            #expect(try [lab.left.networkState(), lab.right.networkState()] == before)
        }
    }

    @Test("A client that allows it is led through the gateway with all its traffic and names")
    func everything() throws {
        try Lab.run { lab in
            let gateway = try GatewayEnd(lab)
            try gateway("peer", "add", "alice")
            for route in ["0.0.0.0/0", "::/0"] { try gateway("route", "add", route) }
            try gateway("dns", "set", "10.7.0.1", "--mode", "full")
            _ = try gateway.start()
            let folder = lab.folder.appendingPathComponent("room").path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let text = try gateway("export", "alice").replacingOccurrences(
                of: "[Interface]\n", with: "[Interface]\n# acceptDefaultRoute = true\n# acceptDNS = full\n")
            let file = try lab.write("alice.conf", text)
            let client = try lab.start(
                on: lab.right,
                [
                    "unshare", "-m", "--propagation", "private", "sh", "-c",
                    ResolverRoom.privateFolders(folder)
                        + "exec \(Lab.providerhost) run --bundle-id org.providerhost.wireguard --config \(file) --dns file",
                ])
            try client.waitFor("connected phtun")
            #expect(try lab.right("ip", "route", "get", "198.51.100.7").contains("dev phtun0"))
            #expect(try lab.right("ip", "route", "get", "2001:db8:ffff::7").contains("dev phtun0"))
            let resolver = try Machine.host("nsenter", "-t", "\(client.pid)", "-m", "cat", "/etc/resolv.conf")
            #expect(resolver.contains("nameserver 10.7.0.1"), "\(resolver)")
            try lab.right.ping("10.7.0.1")
        }
    }

    @Test("Without its consent a client takes no default route, and the gateway learns why")
    func filtered() throws {
        try Lab.run { lab in
            let gateway = try GatewayEnd(lab)
            try gateway("peer", "add", "alice")
            try gateway("route", "add", "0.0.0.0/0")
            _ = try gateway.start()
            _ = try gateway.startClient("alice")
            try eventually("the result at the gateway") { try gateway("results").contains("alice  filtered") }
            #expect(try gateway("results").contains("routes 0.0.0.0/0: "))
            #expect(try !lab.right.routes().contains("default"))
            try lab.right.ping("10.7.0.1")
        }
    }

    @Test("Peers and the networks behind them come and go while the gateway runs")
    func sites() throws {
        try Lab.run { lab in
            let gateway = try GatewayEnd(lab)
            let server = try gateway.start()
            try gateway("peer", "add", "site", "--subnet", "192.168.4.0/24")
            try eventually(seconds: Self.promptly, "the route to the site") {
                try lab.left.routes(into: gateway.interface).contains("192.168.4.0/24")
            }
            #expect(try lab.left("wg", "show", gateway.interface, "allowed-ips").contains("192.168.4.0/24"))
            try gateway("pool", "add", "10.8.0.0/24")
            try eventually(seconds: Self.promptly, "the gateway's address in the pool") {
                try lab.left("ip", "-br", "address", "show", gateway.interface).contains("10.8.0.1/24")
            }
            try gateway("peer", "disable", "site")
            try eventually(seconds: Self.promptly, "the end of the route to the site") {
                try !lab.left.routes(into: gateway.interface).contains("192.168.4.0/24")
            }
            #expect(try lab.left("wg", "show", gateway.interface, "peers").isEmpty)
            #expect(server.isRunning)
        }
    }

    @Test("Without a registry, both ways to run a gateway say how to make one")
    func missing() throws {
        try Lab.run { lab in
            let empty = "PROVIDERHOST_STATE_DIR=\(lab.folder.path)"
            let first = try lab.left.attempt("env", empty, Lab.providerhost, "gateway", "run")
            #expect(first.status == 10 && first.text.contains("gateway init"), "\(first.text)")
            let second = try lab.left.attempt(
                "env", empty, Lab.providerhost, "run", "--bundle-id", "org.providerhost.gateway")
            #expect(second.status == 4 && second.text.contains("gateway init"), "\(second.text)")
        }
    }

    /// The IPv4 address in the line that `gateway peer add` prints.
    private func address(in line: String) throws -> String {
        try #require(line.split { " ,\n".contains($0) }.map(String.init).first { $0.hasPrefix("10.7.0.") })
    }
}
