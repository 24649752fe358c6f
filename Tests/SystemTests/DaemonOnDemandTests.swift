import Foundation
import Testing

/// Rules that start and stop tunnels on real network changes, without any client.
@Suite("On-demand rules of the daemon", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct DaemonOnDemandTests {
    private typealias Rule = DaemonLab.RuleText

    /// Long enough for a change to be looked at.
    private func settle() async throws { try await Task.sleep(for: .milliseconds(2500)) }

    @Test("Rules start a tunnel when they are saved, and when the manager starts, without a client")
    func boot() async throws {
        try await DaemonLab.run { host in
            try host.importLoopback("office")
            try host.setRules("office", Rule.connect)
            try host.wait(for: "connected")
            host.daemon.signal(SIGTERM)
            #expect(try host.daemon.waitForExit(seconds: 20) == 0)
            try host.restart()
            // Nobody asks until the manager itself says so.
            try host.daemon.waitFor("office: connected phtun")
            let why = try host.why("office")
            #expect(why["rule"] as? Int == 1 && why["action"] as? String == "connect")
            #expect((why["network"] as? [String: Any])?["interface"] as? String == "cable")
            #expect(abs((why["time"] as? Double ?? 0) - Date.now.timeIntervalSince1970) < 60)
            let text = try host.checked("status", "office", "--why")
            #expect(
                text.contains("Rule 1 of 1 (connect) is the first that matches.") && text.contains("cable (ethernet)"))
        }
    }

    @Test("A cable that comes up starts the tunnel; without any network nothing is done")
    func cable() async throws {
        try await DaemonLab.run { host in
            try host.lab.left("ip", "link", "set", "cable", "down")
            try host.importLoopback("office")
            try host.setRules("office", #"{"action":1,"interfaceTypeMatch":1}"#)
            try eventually("a decision") { try host.why("office")["time"] is Double }
            let why = try host.why("office")
            #expect(why["rule"] is NSNull)
            #expect((why["reason"] as? String)?.contains("No interface") == true, "\(why)")
            #expect(try host.object("status", "office")["status"] as? String == "disconnected")
            try host.lab.left("ip", "link", "set", "cable", "up")
            try host.wait(for: "connected")
        }
    }

    @Test("A search domain stops the tunnel by a disconnect rule, and another one starts it again")
    func searchDomain() async throws {
        try await DaemonLab.run(resolver: "nameserver 192.0.2.53\nsearch office.example\n") { host, resolver in
            try host.importLoopback("office")
            try host.setRules(
                "office", Rule.disconnectIf(#""dnsSearchDomainMatch":["office.example"]"#), Rule.connect)
            try eventually("a decision") { try host.why("office")["rule"] as? Int == 1 }
            #expect(try host.object("status", "office")["status"] as? String == "disconnected")
            try resolver.write("nameserver 198.51.100.53\nsearch home.example\n")
            try host.wait(for: "connected")
            let network = try #require(try host.why("office")["network"] as? [String: Any])
            #expect(network["searchDomains"] as? [String] == ["home.example"])
            #expect(network["dnsServers"] as? [String] == ["198.51.100.53"])
            try resolver.write("nameserver 192.0.2.53\nsearch lan office.example\n")
            try host.wait(for: "disconnected")
            #expect(try host.checked("log", "office").contains("Rule 1 of 2 (disconnect)"))
            #expect(try host.deeds() == 2)
        }
    }

    @Test("A link that flaps is no change, and neither are our own tunnels; another network is one")
    func noChange() async throws {
        try await DaemonLab.run { host in
            // Without the address that the kernel removes with the carrier.
            try host.lab.left("ip", "-6", "address", "flush", "dev", "cable", "scope", "global")
            try host.importLoopback("office")
            try host.setRules("office", Rule.disconnect)
            try eventually("a decision") { try host.why("office")["rule"] as? Int == 1 }
            try await settle()
            let decided = try #require(try host.why("office")["time"] as? Double)
            // What somebody starts stays until the network is another one.
            try host.checked("start", "office", "--wait")
            try host.importLoopback("other", number: 98)
            try host.checked("start", "other", "--wait")
            for _ in 0..<5 {
                for state in ["down", "up"] { try host.lab.left("ip", "link", "set", "cable", state) }
                try await Task.sleep(for: .milliseconds(100))
            }
            try await settle()
            #expect(try host.object("status", "office")["status"] as? String == "connected")
            let later = try #require(try host.why("office")["time"] as? Double)
            #expect(abs(later - decided) < 0.5, "it was decided again")
            #expect(try host.deeds() == 0)
            try host.lab.left("ip", "address", "add", "198.51.100.1/24", "dev", "cable")
            try host.wait(for: "disconnected")
            #expect(try host.deeds() == 1)
            #expect(try host.object("status", "other")["status"] as? String == "connected")
        }
    }

    @Test("T14: a user's stop does not turn on-demand off; turned off first, the tunnel stays down")
    func userStop() async throws {
        try await DaemonLab.run { host in
            try host.importLoopback("office")
            let warned = try host.setRules("office", Rule.connect, Rule.disconnect)
            for text in [warned, try host.tool("profile", "lint", "office").text] {
                #expect(text.contains("Put rule 2 before rule 1"), "\(text)")
            }
            try host.wait(for: "connected")
            let since = try #require(try host.object("status", "office")["connectedSince"] as? Double)
            try host.checked("stop", "office")
            try eventually("another session") {
                let status = try host.object("status", "office")
                return status["status"] as? String == "connected" && status["connectedSince"] as? Double ?? 0 > since
            }
            try host.checked("profile", "edit", "office", "--on-demand", "no")
            try host.checked("stop", "office", "--wait")
            try await settle()
            #expect(try host.object("status", "office")["status"] as? String == "disconnected")
            #expect(try host.why("office")["reason"] as? String == "On-demand is off.")
        }
    }

    @Test("T14: a provider that fails is started again later and later, and at once when its profile is saved")
    func backOff() async throws {
        try await DaemonLab.run { host in
            let file = try host.lab.write("bad.json", #"{"IPv4Address":7}"#)
            try host.checked(
                "profile", "import", file, "--name", "office", "--bundle-id", "org.providerhost.loopback")
            try host.setRules("office", Rule.connect)
            // After 1, 2 and 4 s.
            try eventually(seconds: 20, "four failures") { (try host.why("office")["failures"] as? Int ?? 0) >= 4 }
            let why = try host.why("office")
            let wait = try #require(why["nextStart"] as? Double) - Date.now.timeIntervalSince1970
            #expect(wait > 4 && wait <= 8, "\(why)")
            #expect(try host.checked("status", "office").contains("IPv4Address"))
            let good = try host.lab.write("good.json", #"{"IPv4Address":"10.99.0.1"}"#)
            try host.checked("profile", "edit", "office", "--config", good)
            try host.wait(for: "connected", seconds: 4)
        }
    }

    @Test("T12: while the keychain is locked a start fails with -25308, and it is tried again when that is unlocked")
    func lockedKeychain() async throws {
        try await DaemonLab.run { host in
            let pair = try TunnelPair()
            let file = try host.lab.write("office.conf", pair.leftFile)
            try host.checked("profile", "import", file, "--name", "office")
            let secret = try host.lab.write("passphrase", "correct horse")
            try host.checked("keychain", "passphrase", "--new", secret)
            try host.setRules("office", Rule.connect)
            try host.wait(for: "connected")
            host.daemon.signal(SIGTERM)
            #expect(try host.daemon.waitForExit(seconds: 20) == 0)
            // As after a boot: nobody has unlocked anything yet.
            try host.restart()
            try eventually(seconds: 20, "failures") { (try host.why("office")["failures"] as? Int ?? 0) >= 4 }
            let error = try #require(try host.object("status", "office")["error"] as? [String: Any])
            #expect(error["code"] as? Int == -25308, "\(error)")
            try host.checked("keychain", "unlock", "--file", secret)
            try host.wait(for: "connected", seconds: 6)
        }
    }
}
