import Foundation
import Testing

/// Rules that look at what can be reached: probes of URLs, and connections to hosts.
@Suite("Reachability for the daemon's rules", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct DaemonReachabilityTests {
    private typealias Rule = DaemonLab.RuleText

    /// Serves one answer to every request at port 8080 of the right machine.
    private func serve(_ status: String, _ host: DaemonLab) throws -> Child {
        let answer = try host.lab.write(
            "answer-\(UUID().uuidString)", "HTTP/1.1 \(status)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        // The request is read before the connection is closed, since the answer would be lost otherwise.
        let server = try host.lab.start(
            on: host.lab.right, ["ncat", "-lk", "192.0.2.2", "8080", "-c", "head -n 1 >/dev/null; cat \(answer)"])
        try eventually("a server") { try host.lab.right("ss", "-Htln").contains(":8080") }
        return server
    }

    @Test("A probe that answers with 200 lets its rule match, anything else does not")
    func probe() async throws {
        try await DaemonLab.run { host in
            try host.importLoopback("office")
            let probed = Rule.disconnectIf(#""probeURL":"http://192.0.2.2:8080/""#)
            try host.setRules("office", probed, Rule.connect)
            try host.wait(for: "connected")
            let redirecting = try serve("302 Found", host)
            let before = try #require(try host.why("office")["time"] as? Double)
            try host.lab.left("ip", "address", "add", "198.51.100.1/24", "dev", "cable")
            try eventually("another decision") { try host.why("office")["time"] as? Double ?? 0 > before + 0.5 }
            #expect(try host.why("office")["rule"] as? Int == 2)
            #expect(try host.object("status", "office")["status"] as? String == "connected")
            redirecting.end()
            try eventually("a free port") { try !host.lab.right("ss", "-Htln").contains(":8080") }
            _ = try serve("200 OK", host)
            try host.lab.left("ip", "address", "del", "198.51.100.1/24", "dev", "cable")
            try host.wait(for: "disconnected")
            #expect(try host.why("office")["rule"] as? Int == 1)
        }
    }

    @Test("A connection is evaluated when somebody asks: by domain, and by the DNS servers of the rule")
    func evaluation() async throws {
        try await DaemonLab.run { host in
            try host.importLoopback("office")
            let rules = """
                {"action":3,"interfaceTypeMatch":0,"connectionRules":[
                    {"matchDomains":["public.example.com"],"action":2},
                    {"matchDomains":["example.com"],"action":1,"useDNSServers":["192.0.2.2"]}]}
                """
            let saved = try host.setRules("office", rules)
            #expect(saved.contains("providerhost evaluate NAME HOST"), "\(saved)")
            try eventually("a decision") { try host.why("office")["action"] as? String == "evaluateConnection" }
            for name in ["www.public.example.com", "www.anotherexample.com"] {
                #expect(try host.object("evaluate", "office", name)["isNeeded"] as? Bool == false, "\(name)")
            }
            #expect(try host.object("status", "office")["status"] as? String == "disconnected")
            // To the first question of 33 bytes, one record: A, IN, 60 s, 192.0.2.1.
            let record = #"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\xc0\0\2\1"#
            let answer =
                #"perl -e 'sysread STDIN,$q,33; substr($q,2,2)="\x81\x80"; substr($q,6,2)="\0\1"; "#
                + #"syswrite STDOUT,$q."\#(record)"'"#
            let server = try host.lab.start(on: host.lab.right, ["ncat", "-lku", "192.0.2.2", "53", "-c", answer])
            try eventually("a server") { try host.lab.right("ss", "-Huln").contains(":53") }
            let resolved = try host.object("evaluate", "office", "www.example.com")
            #expect(resolved["isNeeded"] as? Bool == false, "\(resolved)")
            server.end()
            let needed = try host.tool("evaluate", "office", "www.example.com", "--wait")
            #expect(needed.status == 0 && needed.text.contains("needed: www.example.com"), "\(needed.text)")
            #expect(needed.text.contains("connected phtun"))
            let again = try host.object("evaluate", "office", "www.example.com")
            #expect(again["reason"] as? String == "The tunnel is already up.")
            let refused = try host.tool("evaluate", "office", "no name")
            #expect(refused.status == 1 && refused.text.contains("no name of a host"), "\(refused.text)")
        }
    }
}
