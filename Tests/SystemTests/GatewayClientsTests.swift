import Foundation
import Testing

/// A gateway with two clients, kept by its verbs while all three run: who gets what, and how soon.
///
/// ```
///   right (alice, group staff) ──cable── left (gateway) ──uplink── far (bob)
/// ```
@Suite("Gateway and its clients", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct GatewayClientsTests {
    /// How soon a change reaches a client.
    private static let promptly = 2.5

    /// The gateway and both clients, connected.
    private struct Office {
        let lab: Lab
        let gateway: GatewayEnd
        let far: Machine
        let alice: Child
        let bob: Child

        init(_ lab: Lab, aliceOptions: [String] = []) throws {
            self.lab = lab
            far = try lab.addNeighbour()
            try far("ip", "route", "add", "192.0.2.1", "via", "203.0.113.1")
            gateway = try GatewayEnd(lab, "--masquerade")
            _ = try gateway.start()
            try gateway.run(["peer", "add", "alice", "--group", "staff"] + aliceOptions)
            try gateway("peer", "add", "bob")
            alice = try gateway.startClient("alice")
            // The machines share a folder of control sockets.
            bob = try gateway.startClient("bob", on: far, "--interface", "phtun1")
        }

        func routes() throws -> (alice: Set<String>, bob: Set<String>) {
            (try lab.right.routes(), try far.routes(into: "phtun1"))
        }

        /// The line of a client in `gateway results`, with its reasons.
        func result(_ name: String) throws -> String { try gateway("results", name) }

        func offeredSerial(_ name: String) throws -> Int {
            let object = try JSONSerialization.jsonObject(with: Data(gateway("results", name, "--json").utf8))
            let results = try #require((object as? [String: Any])?["results"] as? [[String: Any]])
            return try #require(results.first?["offeredSerial"] as? Int)
        }
    }

    @Test("Routes, MTU and DNS reach those that they are for, within seconds, and so does their end")
    func profiles() throws {
        try Lab.run { lab in
            let office = try Office(lab)
            let gateway = office.gateway
            try gateway("route", "add", "10.40.0.0/16", "--group", "staff")
            try eventually(seconds: Self.promptly, "the group's route at alice") {
                try office.routes().alice.contains("10.40.0.0/16")
            }
            try gateway("route", "add", "10.41.0.0/16", "--peer", "bob")
            try eventually(seconds: Self.promptly, "the peer's route at bob") {
                try office.routes().bob.contains("10.41.0.0/16")
            }
            try gateway("mtu", "set", "1390", "--group", "staff")
            try eventually(seconds: Self.promptly, "the group's MTU at alice") {
                try lab.right("cat", "/sys/class/net/phtun0/mtu") == "1390\n"
            }
            try gateway("route", "add", "10.42.0.0/16")
            try eventually(seconds: Self.promptly, "the route at both") {
                let routes = try office.routes()
                return routes.alice.contains("10.42.0.0/16") && routes.bob.contains("10.42.0.0/16")
            }
            let routes = try office.routes()
            #expect(!routes.alice.contains("10.41.0.0/16") && !routes.bob.contains("10.40.0.0/16"))
            #expect(try office.far("cat", "/sys/class/net/phtun1/mtu") == "1420\n")
            try gateway("route", "remove", "10.40.0.0/16", "--group", "staff")
            try eventually(seconds: Self.promptly, "the end of the group's route") {
                try !office.routes().alice.contains("10.40.0.0/16")
            }
            for machine in [lab.right, office.far] { try machine.ping("10.7.0.1") }
        }
    }

    @Test("A push makes clients apply again what they have, all of them or one")
    func push() throws {
        try Lab.run { lab in
            let office = try Office(lab)
            for name in ["alice", "bob"] {
                try eventually("the first result of \(name)") { try office.result(name).contains("\(name)  applied") }
            }
            let before = try ["alice", "bob"].map(office.offeredSerial)
            #expect(try office.gateway("push") == "offered to 2 peers\n")
            #expect(try office.gateway("push", "--peer", "bob") == "offered to 1 peer\n")
            #expect(try ["alice", "bob"].map(office.offeredSerial) == [before[0] + 1, before[1] + 2])
            for (child, name) in [(office.alice, "alice"), (office.bob, "bob")] {
                let serial = try office.offeredSerial(name)
                try child.waitFor("Settings \(serial) of the gateway: applied", seconds: 5)
                try eventually("the latest result of \(name)") {
                    try office.result(name).contains("\(name)  applied (serial \(serial), ")
                }
            }
        }
    }

    @Test("A client that is drained is told so and served on; one that is disabled is not, until it is enabled")
    func drain() throws {
        try Lab.run { lab in
            let office = try Office(lab)
            try office.gateway("peer", "drain", "bob")
            try office.bob.waitFor("sends this client away", seconds: Self.promptly)
            #expect(office.bob.isRunning && !office.alice.output.contains("sends this client away"))
            for machine in [lab.right, office.far] { try machine.ping("10.7.0.1") }
            try office.gateway("peer", "disable", "bob")
            try eventually(seconds: Self.promptly + 1, "the end of bob's session") {
                try !office.far.reaches("10.7.0.1")
            }
            try lab.right.ping("10.7.0.1")
            try office.gateway("peer", "enable", "bob")
            try eventually(seconds: 20, "bob's next session") { try office.far.reaches("10.7.0.1") }
        }
    }

    @Test("A network behind one client is reached by another through the gateway")
    func site() throws {
        try Lab.run { lab in
            try lab.right("ip", "address", "add", "192.168.4.1/32", "dev", "lo")
            let office = try Office(lab, aliceOptions: ["--subnet", "192.168.4.0/24"])
            try office.gateway("route", "add", "192.168.4.0/24", "--peer", "bob")
            try eventually(seconds: Self.promptly, "the route at bob") {
                try office.routes().bob.contains("192.168.4.0/24")
            }
            try office.far.ping("192.168.4.1")
            try office.gateway("route", "remove", "192.168.4.0/24", "--peer", "bob")
            try eventually(seconds: Self.promptly, "the end of the route at bob") {
                try !office.routes().bob.contains("192.168.4.0/24")
            }
            #expect(try !office.far.reaches("192.168.4.1"))
        }
    }

    @Test("Each client's refusals stand beside the item with their reason, until the item is taken back")
    func reasons() throws {
        try Lab.run { lab in
            let office = try Office(lab)
            let gateway = office.gateway
            try gateway("route", "add", "0.0.0.0/0", "--peer", "bob")
            try gateway("dns", "set", "10.7.0.1", "--mode", "full", "--group", "staff")
            try eventually("bob's reason") {
                try office.result("bob").contains("routes 0.0.0.0/0: a default route")
            }
            try eventually("alice's reason") {
                let text = try office.result("alice")
                return text.contains("alice  filtered") && text.contains("dns 10.7.0.1: ")
            }
            #expect(try !office.result("alice").contains("0.0.0.0/0"))
            #expect(try !office.routes().bob.contains("default"))
            try gateway("route", "remove", "0.0.0.0/0", "--peer", "bob")
            try gateway("dns", "clear", "--group", "staff")
            for name in ["alice", "bob"] {
                try eventually("no reason any more at \(name)") {
                    let text = try office.result(name)
                    return text.contains("\(name)  applied") && text.split(separator: "\n").count == 1
                        && !text.contains("is offered")
                }
            }
        }
    }
}
