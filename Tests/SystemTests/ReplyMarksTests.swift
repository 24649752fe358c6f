import Foundation
import Testing

/// A default route in the tunnel, and strict reverse-path filtering on the underlay.
@Suite("Replies beside a default route", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct ReplyMarksTests {
    /// Whether the right machine is reached at its outer addresses by a ping of each family and a TCP connection.
    private func answers(_ lab: Lab) throws -> [Bool] {
        let greeting = try lab.left.attempt("ncat", "-w", "1", "--recv-only", "192.0.2.2", "8080")
        return try [lab.left.reaches("192.0.2.2"), lab.left.reaches("2001:db8::2"), greeting.text.contains("hello")]
    }

    @Test("The tunnel's replies pass, connections from outside are answered there, and nothing is left")
    func strict() throws {
        try Lab.run { lab in
            for name in ["all", "cable"] { try lab.right("sysctl", "-qw", "net.ipv4.conf.\(name).rp_filter=1") }
            _ = try lab.start(on: lab.right, ["ncat", "-l", "-k", "8080", "--sh-exec", "echo hello"])
            try eventually("the listener") { try lab.right("ss", "-Hltn", "sport = :8080").contains("8080") }
            #expect(try answers(lab) == [true, true, true])
            func state() throws -> String { try lab.right.networkState() + lab.right("nft", "list", "ruleset") }
            let before = try state()
            let pair = try TunnelPair()
            _ = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            let text = pair.rightFile(routes: "0.0.0.0/0, ::/0")
            let tunnel = try lab.startTunnel(on: lab.right, text)
            try lab.right.ping("10.7.0.1")
            try lab.right.ping("fd07::1")
            #expect(try answers(lab) == [true, true, true])
            // What begins here goes into the tunnel all the same.
            #expect(try lab.right("ip", "route", "get", "192.0.2.1").contains("dev phtun0"))
            try lab.right("nft", "flush", "ruleset")
            try eventually("the marks again") { try lab.right("nft", "list", "tables").contains("_replies_") }
            #expect(try answers(lab) == [true, true, true])
            tunnel.signal(SIGINT)
            #expect(try tunnel.waitForExit() == 0)
            #expect(try state() == before)

            let killed = try lab.startTunnel(on: lab.right, text)
            killed.signal(SIGKILL)
            _ = try killed.waitForExit()
            try eventually("the end of the interface") { try !lab.right("ip", "-br", "link").contains("phtun0") }
            #expect(try lab.right("nft", "list", "tables").contains("providerhost_replies_phtun0"))
            let outcome = try lab.right.attempt(Lab.providerhost, "sweep")
            #expect(outcome.status == 0, "\(outcome.text)")
            #expect(try lab.right("nft", "list", "ruleset").isEmpty)
        }
    }

    @Test("A connection from outside that is there already outlives starts and stops of tunnels")
    func lasting() throws {
        try Lab.run { lab in
            for name in ["all", "cable"] { try lab.right("sysctl", "-qw", "net.ipv4.conf.\(name).rp_filter=1") }
            // A firewall that looks at connections, as most machines have one.
            try lab.right.shell(
                "nft add table inet fw; nft add chain inet fw in '{ type filter hook input priority 0; }';"
                    + " nft add rule inet fw in ct state established accept")
            _ = try lab.start(on: lab.right, ["ncat", "-l", "8081", "--sh-exec", "cat"])
            try eventually("the listener") { try lab.right("ss", "-Hltn", "sport = :8081").contains("8081") }
            let talk = """
                exec 3<>/dev/tcp/192.0.2.2/8081
                while echo word >&3 && read -t 4 answer <&3; do echo "answer"; sleep 0.1; done
                echo lost
                """
            let connection = try lab.start(on: lab.left, ["bash", "-c", talk])
            try connection.waitFor("answer")
            let pair = try TunnelPair()
            _ = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            for _ in 0..<2 {
                let tunnel = try lab.startTunnel(on: lab.right, pair.rightFile(routes: "0.0.0.0/0, ::/0"))
                try lab.right.ping("10.7.0.1")
                let count = connection.output.split(separator: "\n").count
                try connection.waitFor("answer", moreThan: count + 5)
                tunnel.signal(SIGINT)
                #expect(try tunnel.waitForExit() == 0)
            }
            #expect(connection.isRunning && !connection.output.contains("lost"))
        }
    }

    @Test("Under a kill switch the tunnel's replies pass, and nothing from outside is answered")
    func guarded() throws {
        try Lab.run { lab in
            for name in ["all", "cable"] { try lab.right("sysctl", "-qw", "net.ipv4.conf.\(name).rp_filter=1") }
            _ = try lab.start(on: lab.right, ["ncat", "-l", "-k", "8080", "--sh-exec", "echo hello"])
            let pair = try TunnelPair()
            _ = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            for option in ["--enforce-routes", "--include-all-networks"] {
                let tunnel = try lab.startTunnel(
                    on: lab.right, pair.rightFile(routes: "0.0.0.0/0, ::/0"), options: [option])
                try lab.right.ping("10.7.0.1")
                #expect(try answers(lab) == [false, false, false], "\(option)")
                tunnel.signal(SIGINT)
                #expect(try tunnel.waitForExit() == 0)
            }
        }
    }

    @Test("The tunnel's addresses are not found by asking for them outside")
    func probes() throws {
        try Lab.run { lab in
            let pair = try TunnelPair()
            _ = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            _ = try lab.startTunnel(on: lab.right, pair.rightFile(routes: "0.0.0.0/0, ::/0"))
            try lab.right.ping("10.7.0.1")
            for address in ["10.7.0.2", "fd07::2"] {
                try lab.left(
                    "ip", "route", "replace", address, "via", "\(address.contains(":") ? "2001:db8::2" : "192.0.2.2")")
                #expect(try !lab.left.reaches(address), "\(address)")
            }
        }
    }
}
