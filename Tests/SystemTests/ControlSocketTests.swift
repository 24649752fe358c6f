import Foundation
import Testing

/// wg(8) against our control socket: every verb, at every size, beside Debian's wireguard-go.
@Suite("The control socket", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct ControlSocketTests {
    /// Runs `body` with one interface of ours.
    private func withInterface(_ body: (Lab, String, Child) throws -> Void) throws {
        try Lab.run { lab in
            let interface = uniqueInterface()
            let child = try lab.make(.ours, interface, on: lab.left)
            try body(lab, interface, child)
        }
    }

    @Test("Every verb of wg gives what wireguard-go gives")
    func verbs() throws {
        try Lab.run { lab in
            let names = [uniqueInterface(), uniqueInterface()]
            _ = try lab.make(.ours, names[0], on: lab.left)
            _ = try lab.make(.wireguardGo, names[1], on: lab.right)
            let keys = try (0..<4).map { _ in try KeyPair() }
            let preshared = try lab.keyFile(keys[3].privateKey)
            let own = try lab.keyFile(keys[0].privateKey)
            let first = try lab.write(
                "first.conf",
                """
                [Interface]
                PrivateKey = \(keys[0].privateKey)
                ListenPort = 40001
                FwMark = 0x20
                [Peer]
                PublicKey = \(keys[1].publicKey)
                AllowedIPs = 10.0.0.0/8, fd00::/8, 0.0.0.0/0
                Endpoint = [2001:db8::7]:51820
                PersistentKeepalive = 25
                [Peer]
                PublicKey = \(keys[2].publicKey)
                PresharedKey = \(keys[3].privateKey)
                AllowedIPs = 192.168.0.0/16

                """)
            let second = try lab.write(
                "second.conf", "[Peer]\nPublicKey = \(keys[3].publicKey)\nAllowedIPs = 172.16.0.0/12\n")
            let steps: [[String]] = [
                ["setconf", first], ["addconf", second], ["syncconf", first],
                ["set", "listen-port", "40002", "fwmark", "off"],
                ["set", "peer", keys[1].publicKey, "endpoint", "198.51.100.7:1", "persistent-keepalive", "off"],
                ["set", "peer", keys[1].publicKey, "preshared-key", preshared, "allowed-ips", "10.1.0.0/16"],
                // A prefix moves to the peer that names it last.
                ["set", "peer", keys[2].publicKey, "allowed-ips", "10.1.0.0/16,192.168.0.0/16"],
                ["set", "peer", keys[2].publicKey, "preshared-key", "/dev/null"],
                ["set", "peer", keys[1].publicKey, "remove"], ["set", "private-key", own],
                // Our own name is no peer.
                ["set", "peer", keys[0].publicKey, "allowed-ips", "10.9.0.0/16"],
                ["set", "private-key", "/dev/null"],
            ]
            for step in steps {
                var shown: [[String]] = []
                for (machine, name) in [(lab.left, names[0]), (lab.right, names[1])] {
                    try machine.shell("wg \(step[0]) \(name) \(step.dropFirst().joined(separator: " "))")
                    // Not what was sent: wireguard-go counts an initiation although its interface is down.
                    let dump = try machine("wg", "show", name, "dump").split(separator: "\n").map { line in
                        var fields = line.split(separator: "\t")
                        if fields.count == 8 { fields.remove(at: 6) }
                        return fields.joined(separator: "\t")
                    }
                    let configuration = try machine("wg", "showconf", name).components(separatedBy: "\n\n")
                    // The order of peers and of their prefixes is nobody's promise.
                    shown.append((dump + configuration).map { Self.sorted($0) }.sorted())
                }
                #expect(shown[0] == shown[1], "\(step)")
            }
            let all = try lab.left("wg", "show", "all", "dump")
            #expect(all.contains(names[0]) && all.contains(names[1]))
            #expect(try lab.left.attempt("wg", "show", "doesnotexist").status != 0)
        }
    }

    /// The text with lists of networks in one order.
    private static func sorted(_ text: String) -> String {
        text.split(separator: "\n").map { line in
            line.split(whereSeparator: { $0 == "\t" }).map { field in
                let list = field.replacingOccurrences(of: "AllowedIPs = ", with: "").split(separator: ",")
                return list.map { $0.trimmingCharacters(in: .whitespaces) }.sorted().joined(separator: ",")
            }.joined(separator: "\t")
        }.joined(separator: "\n")
    }

    @Test("Keys are clamped as they are set")
    func clamped() throws {
        try withInterface { lab, interface, _ in
            // All bits set, and the same with the bits that curve25519 wants: base64 of ff… and of f8 ff … 7f.
            let loose = String(repeating: "/", count: 42) + "8="
            try lab.left("wg", "set", interface, "private-key", lab.keyFile(loose))
            let shown = try lab.left("wg", "show", interface, "private-key")
            #expect(shown == "+P" + String(repeating: "/", count: 39) + "38=\n")
        }
    }

    @Test("Operations one after the other on one connection; errors by number; an empty probe")
    func raw() throws {
        try withInterface { lab, interface, _ in
            for (request, reply) in [
                ("get=1\\n\\nget=1\\n\\n", "errno=0\n\nerrno=0\n\n"),
                ("set=1\\nlisten_port=7\\n\\nget=1\\n\\n", "errno=0\n\nlisten_port=7\nerrno=0\n\n"),
                ("set=1\\nlisten_port=70000\\n\\n", "errno=-22\n\n"),
                ("set=1\\nfwmark=1\\nx=1\\n\\nget=1\\n\\n", "errno=-22\n\nlisten_port=7\nerrno=0\n\n"),
                ("bad=1\\n\\n", "errno=22\n\n"), ("", ""),
            ] {
                let socket = controlSocket(of: interface)
                let answer = try lab.left.shell("printf '\(request)' | timeout 5 ncat -U \(socket)")
                #expect(answer == reply, "\(request)")
            }
        }
    }

    @Test("A port in use is refused, and everything stays as it was")
    func portInUse() throws {
        try withInterface { lab, interface, _ in
            try lab.left("ip", "link", "set", interface, "up")
            try lab.left("wg", "set", interface, "listen-port", "40003")
            try eventually("the port") { try !lab.left("ss", "-Huln", "sport = :40003").isEmpty }
            _ = try lab.start(on: lab.left, ["ncat", "-u", "-l", "40004"])
            try eventually("the holder of the port") { try !lab.left("ss", "-Huln", "sport = :40004").isEmpty }
            let refused = try lab.left.attempt("wg", "set", interface, "listen-port", "40004")
            #expect(refused.status != 0 && refused.text.contains("Address already in use"))
            #expect(try lab.left("wg", "show", interface, "listen-port") == "40003\n")
        }
    }

    @Test("130,560 allowed IPs, 40 peers with 52 each, 30 peers")
    func many() throws {
        try withInterface { lab, interface, _ in
            let key = try KeyPair()
            var lines = ["[Interface]", "PrivateKey = \(key.privateKey)", "[Peer]", "PublicKey = \(key.privateKey)"]
            for high in 1...255 {
                for low in 0...255 { lines.append("AllowedIPs=\(high).\(low).0.0/16,\(high)::\(low)/128") }
            }
            try lab.left("wg", "setconf", interface, lab.write("many.conf", lines.joined(separator: "\n") + "\n"))
            #expect(try lab.left.shell("wg show \(interface) allowed-ips | wc -w") == "130561\n")

            let keys = try lab.left.shell("for i in {1..40}; do wg genkey; done").split(separator: "\n")
            lines = ["[Interface]", "PrivateKey = \(key.privateKey)"]
            for (high, key) in keys.enumerated() {
                lines += ["[Peer]", "PublicKey = \(key)"] + (1...52).map { "AllowedIPs = \(high).\($0).0.0/16" }
            }
            try lab.left("wg", "setconf", interface, lab.write("forty.conf", lines.joined(separator: "\n") + "\n"))
            let counts = try lab.left("wg", "show", interface, "allowed-ips").split(separator: "\n").map {
                $0.split(whereSeparator: { $0 == " " || $0 == "\t" }).count
            }
            #expect(counts == Array(repeating: 53, count: 40))

            lines =
                keys.prefix(30).flatMap { ["[Peer]", "PublicKey = \($0)"] }
                + ["AllowedIPs = 255.2.3.4/32, abcd::255/128"]
            try lab.left("wg", "setconf", interface, lab.write("thirty.conf", lines.joined(separator: "\n") + "\n"))
            #expect(try lab.left("wg", "showconf", interface).components(separatedBy: "[Peer]").count == 31)
            // In the order in which they were added, as the kernel lists them.
            let shown = try lab.left("wg", "show", interface, "peers").split(separator: "\n")
            #expect(shown == Array(keys.prefix(30)))
        }
    }

    @Test("One peer among 10,000 is changed at once")
    func oneAmongMany() throws {
        try withInterface { lab, interface, _ in
            // Any 32 bytes name a peer.
            let reply = try lab.left.shell(
                """
                (echo set=1; head -c 320000 /dev/urandom | od -An -v -tx1 -w32 | tr -d ' ' | awk '{ print "public_key=" $1 \
                "\\nallowed_ip=10." int(NR / 250) "." NR % 250 ".0/24" }'; echo) | \
                timeout 20 ncat -U \(controlSocket(of: interface))
                """)
            #expect(reply == "errno=0\n\n")
            let peers = try lab.left("wg", "show", interface, "peers").split(separator: "\n")
            #expect(peers.count == 10_000)
            let times = try (0..<10).map { number in
                let change = "wg set \(interface) peer \(peers[5000]) allowed-ips 10.200.\(number).0/24"
                let microseconds = try lab.left.shell(
                    "b=$EPOCHREALTIME; \(change); e=$EPOCHREALTIME; echo -n $((${e/./} - ${b/./}))")
                return try #require(Int(microseconds))
            }
            #expect(times.sorted()[5] < 50_000, "microseconds: \(times)")
            let shown = try lab.left.shell("wg show \(interface) allowed-ips | grep -F '\(peers[5000])'")
            #expect(shown.hasSuffix("\t10.200.9.0/24\n"))
        }
    }

    @Test("A worker that is stopped cannot hang wg for longer than a second, and answers when it goes on")
    func hung() throws {
        try withInterface { lab, interface, child in
            let worker = try #require(child.childProcesses().first)
            kill(worker, SIGSTOP)
            defer { kill(worker, SIGCONT) }
            let began = Date.now
            #expect(try lab.left.attempt("wg", "show", interface).status != 0)
            #expect(Date.now.timeIntervalSince(began) < 1)
            // Many at once do not add up.
            try lab.left.shell("for i in {1..50}; do wg show \(interface) & done > /dev/null 2>&1; wait")
            #expect(Date.now.timeIntervalSince(began) < 2.5)
            kill(worker, SIGCONT)
            try eventually("an answer") { try lab.left.attempt("wg", "show", interface).status == 0 }
            #expect(child.isRunning)
        }
    }
}
