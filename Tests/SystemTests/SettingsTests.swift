import Foundation
import Testing

/// The verbs that explain settings, at clients whose gateway pushes some that are refused.
@Suite("Explained settings", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct SettingsTests {
    /// Starts the tunnel of a peer on an interface that no other test has.
    private func start(_ lab: Lab, _ text: String, _ interface: String) throws -> Child {
        let file = try lab.write("\(interface).conf", text)
        let child = try lab.start(
            on: lab.right,
            [
                Lab.providerhost, "run", "--bundle-id", "org.providerhost.wireguard", "--config", file, "--interface",
                interface,
            ])
        try child.waitFor("connected \(interface)")
        return child
    }

    private func settings(_ lab: Lab, _ arguments: String..., tunnel: String) throws -> String {
        let outcome = try Machine.outcome(
            ["ip", "netns", "exec", lab.right.namespace, Lab.providerhost, "settings"] + arguments
                + ["--tunnel", tunnel])
        try #require(outcome.status == 0, "\(outcome.text)")
        return outcome.text
    }

    private func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test("show, diff and why tell what was offered, what decided, and which line would allow it")
    func explained() throws {
        try Lab.run { lab in
            let interface = uniqueInterface()
            let gateway = try GatewayEnd(lab)
            try gateway("peer", "add", "alice")
            for route in ["10.20.0.0/16", "10.30.0.0/16", "0.0.0.0/0"] { try gateway("route", "add", route) }
            try gateway("dns", "set", "10.7.0.1", "--mode", "full")
            _ = try gateway.start()
            let text = try gateway("export", "alice").replacingOccurrences(
                of: "[Interface]\n", with: "[Interface]\n# denyRoutes = 10.30.0.0/16\n")
            _ = try start(lab, text, interface)

            let shown = try settings(lab, "show", tunnel: interface)
            #expect(shown.contains("gateway 192.0.2.1:51820"), "\(shown)")
            let accepted = try #require(shown.split(separator: "\n").first { $0.contains("10.20.0.0/16") })
            #expect(accepted.contains("Route") && accepted.contains("gateway 192.0.2.1:51820, serial "))
            #expect(!shown.contains("0.0.0.0/0") && !shown.contains("Route          10.30.0.0/16"))

            let diff = try settings(lab, "diff", tunnel: interface).split(separator: "\n").map(String.init)
            #expect(diff.contains("  = Route 10.20.0.0/16"), "\(diff)")
            #expect(diff.contains { $0.hasPrefix("  - Route 0.0.0.0/0") && $0.contains("acceptDefaultRoute = true") })

            let denied = try settings(lab, "why", "10.30.1.0/24", tunnel: interface)
            #expect(
                denied.contains("denyRoutes") && denied.contains("line 3 of ") && denied.contains("\(interface).conf"))
            #expect(try settings(lab, "why", "10.20.1.7", tunnel: interface).contains("10.20.0.0/16"))
            #expect(try settings(lab, "why", "host.example", tunnel: interface).contains("acceptDNS = full"))
            #expect(try settings(lab, "why", "fd99::/16", tunnel: interface).contains("is offered by nobody"))

            let json = try object(settings(lab, "why", "8.8.8.8", "--json", tunnel: interface))
            let tunnels = try #require(json["tunnels"] as? [[String: Any]])
            let answers = try #require(tunnels.first?["answers"] as? [[String: Any]])
            let refusal = try #require(answers.first { $0["reason"] as? String == "defaultRoute" })
            #expect(json["schema"] as? Int == 1 && refusal["code"] as? Int == 400)
            #expect(refusal["effect"] as? String == "refused" && refusal["key"] as? String == "acceptDefaultRoute")

            // A gateway's own settings are its registry's.
            let own = try lab.left.attempt(Lab.providerhost, "settings", "show", "--tunnel", gateway.interface)
            #expect(own.status != 0 && own.text.contains("gateway show"), "\(own.text)")
            let none = try lab.right.attempt(Lab.providerhost, "settings", "show", "--tunnel", "nosuchone")
            #expect(none.status == 10, "\(none.text)")
        }
    }

    @Test("What the machine is connected to narrows what a gateway pushes, at the start and when it changes")
    func hostNetworks() throws {
        try Lab.run(mtu: 1400) { lab in
            let interface = uniqueInterface()
            try lab.right("ip", "address", "add", "10.20.5.9/24", "dev", "cable")
            let gateway = try GatewayEnd(lab)
            try gateway("peer", "add", "alice")
            // One covers a private network of the client, one its endpoint, one is a public network on its link.
            try lab.right("ip", "address", "add", "9.9.8.2/21", "dev", "cable")
            for route in ["10.20.0.0/16", "192.0.2.0/24", "9.9.0.0/16"] { try gateway("route", "add", route) }
            try gateway("mtu", "set", "1420")
            _ = try gateway.start()
            _ = try start(lab, try gateway("export", "alice"), interface)

            func way(_ address: String) throws -> String { try lab.right.attempt("ip", "route", "get", address).text }
            #expect(try way("10.20.6.1").contains("dev \(interface)"))
            #expect(try way("10.20.5.1").contains("dev cable"), "a private network that is connected stays local")
            #expect(try way("9.9.8.1").contains("dev \(interface)"), "a public one on the link is a trap")
            #expect(try way("192.0.2.1").contains("dev \(interface)"), "the endpoint is exempt by its mark alone")
            try lab.right.ping("10.7.0.1")
            #expect(try lab.right("cat", "/sys/class/net/\(interface)/mtu") == "1340\n", "what the path carries")
            let diff = try settings(lab, "diff", tunnel: interface)
            #expect(diff.contains("(10.20.5.0/24 on cable)") && diff.contains("(9.9.8.0/21 on cable)"), "\(diff)")
            #expect(diff.contains("  ~ MTU 1420"), "\(diff)")

            try lab.right("ip", "address", "del", "10.20.5.9/24", "dev", "cable")
            try eventually("the end of the exception") { try way("10.20.5.1").contains("dev \(interface)") }
            try lab.right("ip", "address", "add", "10.20.6.9/24", "dev", "cable")
            try eventually("another exception") { try way("10.20.6.1").contains("dev cable") }
            try lab.right.ping("10.7.0.1")
        }
    }
}
