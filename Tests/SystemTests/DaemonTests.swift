import Foundation
import Testing

/// The command line against a manager of its own, with real interfaces.
@Suite("Daemon and command line", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct DaemonTests {
    @Test("A loopback tunnel from import to removal leaves the machine as it was")
    func loopback() async throws {
        try await DaemonLab.run { host in
            let before = try host.lab.left.networkState()
            try host.importLoopback("office")
            #expect(try host.object("status", "office")["status"] as? String == "disconnected")
            try host.checked("start", "office", "--wait")
            let status = try host.object("status", "office")
            #expect(status["status"] as? String == "connected" && status["schema"] as? Int == 1)
            let interface = try #require(status["interface"] as? String)
            try host.lab.left.ping("10.99.0.2")
            try host.lab.left.ping("fd99::2")

            let counters = try host.object("counters", "office")
            #expect(counters["estimate"] as? Bool == true && counters["interface"] as? String == interface)
            #expect((counters["receivedPackets"] as? Int ?? 0) >= 6 && (counters["sentBytes"] as? Int ?? 0) > 0)
            // This provider counts nothing itself.
            #expect((counters["peers"] as? [Any])?.isEmpty == true)
            let epoch = try #require(counters["epoch"] as? String)

            #expect(try host.tool("settings", "show", "--tunnel", "office").text.contains("tells no settings"))

            #expect(try host.tool("start", "office").status == 4)
            try host.checked("stop", "office", "--wait")
            #expect(try host.object("status", "office")["status"] as? String == "disconnected")
            #expect(try host.lab.left.networkState() == before)

            try host.checked("start", "office", "--wait")
            let fresh = try host.object("counters", "office")
            #expect(fresh["epoch"] as? String != epoch)
            #expect((fresh["receivedPackets"] as? Int ?? 9) < 6)
            #expect(try host.checked("log", "office").contains("connected \(interface)"))
            try host.checked("profile", "remove", "office")
            try eventually("the end of the tunnel") { try host.lab.left.networkState() == before }
            #expect(try host.tool("status", "office").status == 10)
        }
    }

    @Test("A profile with isolation has its tunnel in a namespace, and its counters are read all the same")
    func isolated() async throws {
        try await DaemonLab.run { host in
            let before = try host.lab.left.networkState()
            let name = "phtun\(Int.random(in: 1000...9_999_999))"
            let places = ["/run/netns/\(name)", "/etc/netns/\(name)"]
            try host.importLoopback("office", options: ["--interface", name, "--isolation", "namespace"])
            try host.checked("start", "office", "--wait")
            #expect(try !host.lab.left("ip", "-br", "link").contains(name))
            // `ip netns exec` gave the manager mounts of its own, in which the namespace has its name.
            let ping = try Machine.outcome(
                ["nsenter", "-t", "\(host.daemon.pid)", "-m", "ip", "netns", "exec", name]
                    + ["ping", "-c", "3", "-i", "0.1", "-W", "2", "10.99.0.2"])
            #expect(ping.status == 0, "\(ping.text)")
            let counters = try host.object("counters", "office")
            #expect(counters["interface"] as? String == name && (counters["receivedPackets"] as? Int ?? 0) >= 3)
            try host.checked("stop", "office", "--wait")
            #expect(places.allSatisfy { !FileManager.default.fileExists(atPath: $0) })
            #expect(try host.lab.left.networkState() == before)
            let file = try host.lab.write("other.json", "{}")
            #expect(try host.tool("profile", "import", file, "--isolation", "jail").status == 2)
        }
    }

    @Test("Several tunnels at once, stopped through their providers by SIGTERM")
    func several() async throws {
        try await DaemonLab.run { host in
            let before = try host.lab.left.networkState()
            for number in 1...4 {
                try host.importLoopback("t\(number)", number: 60 + number)
                try host.checked("start", "t\(number)", "--wait")
            }
            for number in 1...4 { try host.lab.left.ping("10.\(60 + number).0.2", count: 1) }
            let lines = try host.checked("status").split(separator: "\n")
            #expect(lines.count == 4 && lines.allSatisfy { $0.contains(" connected ") }, "\(lines)")
            #expect(host.daemon.childProcesses().count == 4)
            host.daemon.signal(SIGTERM)
            #expect(try host.daemon.waitForExit(seconds: 20) == 0)
            #expect(try host.lab.left.networkState() == before)
            #expect(try host.tool("status").status == 8)
            try host.restart()
            #expect(try host.object("status", "t1")["status"] as? String == "disconnected")
        }
    }

    @Test("A WireGuard profile: its keys are in the keychain alone, and the tunnel carries traffic")
    func wireGuard() async throws {
        try await DaemonLab.run { host in
            var pair = try TunnelPair()
            pair.endpointAtLeft = true
            _ = try host.lab.startPeer(on: host.lab.right, pair.rightPlain, last: 2)
            let file = try host.lab.write("office.conf", pair.leftFile)
            try host.checked("profile", "import", file, "--name", "office")
            let key = try #require(
                pair.leftFile.split(separator: "\n").first { $0.hasPrefix("PrivateKey") }?.split(separator: " ").last)
            let shown = try host.checked("profile", "show", "office", "--json")
            #expect(!shown.contains(key) && shown.contains("${keychain:PrivateKey}"))
            #expect(try host.checked("keychain", "list", "office").contains("PrivateKey"))
            try host.checked("start", "office", "--wait")
            try host.lab.left.ping("10.7.0.2")
            let settings = try host.object("settings", "show", "--tunnel", "office")
            let tunnel = try #require((settings["tunnels"] as? [[String: Any]])?.first)
            #expect(tunnel["name"] as? String == "office" && tunnel["source"] as? String == "static")
            let values = try #require(tunnel["values"] as? [[String: String]])
            #expect(values.contains(["kind": "route", "value": "10.7.0.2/32", "origin": "profile"]), "\(values)")
            let peers = try #require(try host.object("counters", "office")["peers"] as? [[String: Any]])
            let peer = try #require(peers.first)
            #expect(peers.count == 1 && peer["name"] as? String == pair.right.publicKey)
            let figures = try #require(peer["values"] as? [String: Int])
            #expect((figures["receivedBytes"] ?? 0) > 0 && (figures["sentBytes"] ?? 0) > 0, "\(figures)")
            #expect(abs(Double(figures["latestHandshake"] ?? 0) - Date().timeIntervalSince1970) < 60, "\(figures)")
            let text = try host.checked("counters", "office")
            #expect(
                text.contains("estimates of inner traffic") && text.contains("peer \(pair.right.publicKey) "), "\(text)"
            )
            #expect(try host.checked("log", "office").contains(key) == false)
            #expect(!host.daemon.output.contains(key))
            // A store that holds the key in clear text anywhere would show it here.
            let state = host.lab.folder.appendingPathComponent("state").path
            #expect(
                try Machine.outcome(["grep", "-rcF", String(key), state]).text.split(separator: "\n").allSatisfy {
                    $0.hasSuffix(":0")
                })
            #expect(try host.checked("message", "office", "--hex", "00").contains("public_key"))
            try host.checked("stop", "office", "--wait")
        }
    }

    @Test("Rotation: the new key is proved by a start; a deleted key and a locked keychain are errors of their own")
    func rotation() async throws {
        try await DaemonLab.run { host in
            let pair = try TunnelPair()
            _ = try host.lab.startPeer(on: host.lab.right, pair.rightPlain, last: 2)
            let file = try host.lab.write("office.conf", pair.leftFile)
            try host.checked("profile", "import", file, "--name", "office")
            let fresh = try Machine.host("wg", "genkey")
            let rotated = try host.tool("keychain", "rotate", "office", "PrivateKey", input: fresh)
            #expect(rotated.status == 0 && rotated.text.contains("connected"), "\(rotated.text)")
            #expect(try host.tool("keychain", "rotate", "office", "Nothing", input: "x").status == 10)
            try host.checked("stop", "office", "--wait")
            try host.checked("keychain", "remove", "office", "PrivateKey")
            let refused = try host.tool("start", "office")
            #expect(refused.status == 4 && refused.text.contains("deleted"), "\(refused.text)")
        }
    }

    @Test("The manager is killed: the next one sweeps, and tells what became of the tunnel")
    func killed() async throws {
        try await DaemonLab.run { host in
            let before = try host.lab.left.networkState()
            let pair = try TunnelPair()
            let file = try host.lab.write("office.conf", pair.leftFile)
            try host.checked("profile", "import", file, "--name", "office")
            try host.checked("start", "office", "--wait")
            host.daemon.signal(SIGKILL)
            _ = try host.daemon.waitForExit()
            try host.restart()
            try eventually("a clean machine") { try host.lab.left.networkState() == before }
            let status = try host.object("status", "office")
            #expect(status["status"] as? String == "disconnected")
            let error = try #require(status["error"] as? [String: Any])
            #expect((error["cause"] as? String)?.contains("manager ended") == true)
            try host.checked("start", "office", "--wait")
        }
    }

    @Test("A killed client changes nothing, and watchers see every change")
    func clients() async throws {
        try await DaemonLab.run { host in
            try host.importLoopback("office")
            let watch = try host.lab.start(
                on: host.lab.left, [Lab.providerhost, "status", "office", "--watch"], environment: host.environment)
            try watch.waitFor("office disconnected")
            let starter = try host.lab.start(
                on: host.lab.left, [Lab.providerhost, "start", "office", "--wait"], environment: host.environment)
            try watch.waitFor("office connecting")
            starter.signal(SIGKILL)
            try watch.waitFor("office connected")
            #expect(try host.object("status", "office")["status"] as? String == "connected")
            watch.signal(SIGKILL)
            try host.lab.left.ping("10.99.0.2", count: 1)
        }
    }

    @Test("An unknown bundle is refused at once, with the closest installed ones, before any line of a provider")
    func unknownBundle() async throws {
        try await DaemonLab.run { host in
            let file = try host.lab.write("p.json", "{}")
            let saved = try host.checked(
                "profile", "import", file, "--name", "office", "--bundle-id", "org.providerhost.loopbcak")
            #expect(saved.contains("warning"))
            let refused = try host.tool("start", "office", "--wait")
            #expect(refused.status == 4, "\(refused.text)")
            #expect(
                refused.text.contains("org.providerhost.loopbcak") && refused.text.contains("org.providerhost.loopback")
            )
            #expect(try host.checked("log", "office").contains("connecting") == false)
        }
    }

    @Test("Nobody listens: exit status 8, and a second manager is refused")
    func noDaemon() async throws {
        try await DaemonLab.run { host in
            let second = try Machine.outcome(
                host.environment.map { "\($0.key)=\($0.value)" } + [Lab.providerhost, "daemon"])
            #expect(second.status == 1 && second.text.contains("Another manager"), "\(second.text)")
            host.daemon.signal(SIGTERM)
            #expect(try host.daemon.waitForExit() == 0)
            let refused = try host.tool("profile", "list")
            #expect(refused.status == 8 && refused.text.contains("providerhost daemon"))
        }
    }

    @Test("Another user may do nothing; the owner of a profile everything but what is root's")
    func users() async throws {
        try await DaemonLab.run { host in
            try host.importLoopback("office", options: ["--owner", "4711"])
            try host.importLoopback("rootly", number: 98)
            func asUser(_ user: Int, _ arguments: String...) throws -> Outcome {
                try Machine.outcome(
                    ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "env"]
                        + host.environment.map { "\($0.key)=\($0.value)" } + [Lab.providerhost] + arguments)
            }
            for arguments in [["profile", "list"], ["status"], ["start", "office"], ["profile", "remove", "office"]] {
                let refused = try Machine.outcome(
                    ["setpriv", "--reuid=4712", "--regid=4712", "--clear-groups", "env"]
                        + host.environment.map { "\($0.key)=\($0.value)" } + [Lab.providerhost] + arguments)
                #expect(refused.status == 1 && refused.text.contains("lacks the permission"), "\(refused.text)")
                #expect(refused.text.contains("com.apple.developer.networking.networkextension"), "\(refused.text)")
            }
            let list = try asUser(4711, "profile", "list")
            #expect(list.status == 0 && list.text.contains("office") && !list.text.contains("rootly"), "\(list.text)")
            #expect(try asUser(4711, "start", "office", "--wait").status == 0)
            #expect(try asUser(4711, "stop", "office", "--wait").status == 0)
            #expect(try asUser(4711, "start", "rootly").status == 10)
            #expect(try asUser(4711, "profile", "edit", "office", "--allow-hooks", "yes").status == 1)
            #expect(try asUser(4711, "keychain", "lock").status == 1)
            #expect(try asUser(4711, "profile", "remove", "office").status == 0)
        }
    }

    @Test("systemd is told that the manager is ready, alive and stopping")
    func notifications() async throws {
        var socket: NotifySocket?
        try await DaemonLab.run { lab in
            let made = try NotifySocket(lab.folder.appendingPathComponent("notify").path)
            socket = made
            return ["NOTIFY_SOCKET": made.path, "WATCHDOG_USEC": "200000"]
        } body: { host in
            let socket = try #require(socket)
            try eventually("READY=1") { socket.received().contains("READY=1") }
            try eventually("signs of life") { socket.received().components(separatedBy: "WATCHDOG=1").count > 4 }
            host.daemon.signal(SIGTERM)
            try eventually("STOPPING=1") { socket.received().contains("STOPPING=1") }
            #expect(try host.daemon.waitForExit() == 0)
        }
    }
}
