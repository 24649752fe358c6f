import Foundation
import Testing

/// A gateway whose clients reach a third machine that knows the way to the gateway only.
///
/// ```
///   right (client) ──cable── left (gateway) ──uplink── far (203.0.113.9, 2001:db8:1::9; no other route)
/// ```
@Suite("Masquerade", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct MasqueradeTests {
    private static let addresses = ["203.0.113.9", "2001:db8:1::9"]
    private static let networks = ["203.0.113.0/24", "2001:db8:1::/64"]
    private static let switches = ["net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"]

    /// The left machine as it was before there was a gateway.
    private func state(_ lab: Lab) throws -> String {
        try lab.left.networkState() + lab.left("nft", "list", "ruleset")
            + Self.switches.map { try lab.left("sysctl", $0) }.joined()
    }

    private func prepare(_ lab: Lab) throws -> Machine {
        let far = try lab.addNeighbour()
        for name in Self.switches { try lab.left("sysctl", "-qw", "\(name)=0") }
        return far
    }

    /// The client at the right machine, once both networks behind the gateway are routed into its tunnel.
    private func startClient(_ gateway: GatewayEnd) throws -> Child {
        try gateway("peer", "add", "alice")
        for network in Self.networks { try gateway("route", "add", network) }
        let client = try gateway.startClient("alice")
        try eventually("the routes") { try gateway.lab.right.routes().isSuperset(of: Self.networks) }
        return client
    }

    @Test("Clients reach a machine that knows the gateway only, nobody else does, and a stop leaves nothing")
    func reach() throws {
        try Lab.run { lab in
            let far = try prepare(lab)
            let before = try state(lab)
            let gateway = try GatewayEnd(lab)
            let server = try gateway.start("--masquerade")
            let client = try startClient(gateway)
            for address in Self.addresses { try lab.right.ping(address) }
            let tables = try lab.left("nft", "list", "tables")
            #expect(tables.contains("inet providerhost_masquerade_\(gateway.interface)"), "\(tables)")

            // The switch is on, but for the gateway's clients alone.
            let capture = try lab.start(
                on: lab.right, ["tcpdump", "-l", "-n", "-i", "cable", "--immediate-mode", "icmp"])
            try capture.waitFor("listening on")
            try far("ip", "route", "add", "192.0.2.0/24", "via", "203.0.113.1")
            #expect(try !far.reaches("192.0.2.2"))
            #expect(!capture.output.contains("203.0.113.9 >"), "\(capture.output)")

            // Another program's flush does not last.
            try lab.left("nft", "flush", "ruleset")
            try eventually("the tables") { try lab.left("nft", "list", "tables").count == tables.count }
            for address in Self.addresses { try lab.right.ping(address) }

            for child in [client, server] {
                child.signal(SIGINT)
                #expect(try child.waitForExit(seconds: 20) == 0, "\(child.output)")
            }
            #expect(try state(lab) == before)
        }
    }

    @Test("What a killed gateway left ends with a sweep, or with its next start")
    func killed() throws {
        try Lab.run { lab in
            _ = try prepare(lab)
            let before = try state(lab)
            let gateway = try GatewayEnd(lab, "--masquerade")
            let verb = ["run", "--bundle-id", "org.providerhost.gateway"]
            func kill(_ server: Child) throws {
                server.signal(SIGKILL)
                _ = try server.waitForExit()
                try eventually("the end of the interface") {
                    try !lab.left("ip", "-br", "link").contains(gateway.interface)
                }
                #expect(try lab.left("nft", "list", "tables").contains("providerhost_masquerade_"))
                #expect(try lab.left("sysctl", "-n", Self.switches[0]) == "1\n")
            }
            try kill(try gateway.start(verb: verb))
            let outcome = try lab.left.attempt(Lab.providerhost, "sweep")
            #expect(outcome.status == 0 && outcome.text.contains("inet providerhost_masquerade_"), "\(outcome.text)")
            #expect(try state(lab) == before)

            try kill(try gateway.start(verb: verb))
            let next = try gateway.start(verb: verb)
            #expect(next.output.contains("providerhost_masquerade_"), "\(next.output)")
            _ = try startClient(gateway)
            for address in Self.addresses { try lab.right.ping(address) }
            next.signal(SIGINT)
            #expect(try next.waitForExit(seconds: 20) == 0)
            #expect(try state(lab) == before)
        }
    }

    @Test("Without the program nft it is refused before anything is made")
    func withoutProgram() throws {
        try Lab.run { lab in
            _ = try prepare(lab)
            let gateway = try GatewayEnd(lab)
            let before = try state(lab)
            let hide = "for f in /usr/sbin/nft /sbin/nft; do mount --bind /dev/null $f || true; done"
            let run = "PROVIDERHOST_STATE_DIR=\(gateway.folder) exec \(Lab.providerhost) gateway run --masquerade"
            let outcome = try lab.left.attempt("unshare", "-m", "sh", "-c", "\(hide); \(run)")
            #expect(outcome.status == 4, "\(outcome.text)")
            #expect(outcome.text.contains("no program nft") && outcome.text.contains("--masquerade"), "\(outcome.text)")
            #expect(try state(lab) == before)
        }
    }
}
