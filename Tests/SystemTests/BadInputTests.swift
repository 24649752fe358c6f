import Foundation
import Testing

/// Wrong arguments, files and machines: one error with cause and next step, and nothing half-made.
@Suite("Bad input", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct BadInputTests {
    private func expectRefusal(
        _ arguments: [String], status: Int32, says texts: [String], in machine: Machine, prefix: [String] = []
    ) throws {
        let before = try machine.networkState()
        let outcome = try Machine.outcome(
            ["ip", "netns", "exec", machine.namespace] + prefix + ["timeout", "20", Lab.providerhost] + arguments)
        #expect(outcome.status == status, "\(outcome.text)")
        for text in texts { #expect(outcome.text.contains(text), "\(outcome.text)") }
        #expect(try machine.networkState() == before)
    }

    private func run(_ file: String, _ more: String...) -> [String] {
        ["run", "--bundle-id", "org.providerhost.wireguard", "--config", file] + more
    }

    @Test("An unknown bundle is named together with the closest installed ones")
    func unknownBundle() throws {
        try Lab.run { lab in
            try expectRefusal(
                ["run", "--bundle-id", "org.providerhost.wiregaurd"], status: 10,
                says: ["org.providerhost.wiregaurd", "org.providerhost.wireguard"], in: lab.left)
        }
    }

    @Test("Arguments that are wrong are usage errors")
    func usage() throws {
        try Lab.run { lab in
            try expectRefusal(["run"], status: 2, says: ["--bundle-id"], in: lab.left)
            try expectRefusal(["rnu"], status: 2, says: ["rnu", "run"], in: lab.left)
            try expectRefusal(
                ["run", "--bundel-id", "x"], status: 2, says: ["--bundel-id", "--bundle-id"], in: lab.left)
            let file = try lab.write("tunnel.conf", TunnelPair().leftFile)
            for name in ["", "sixteen-letters-", "a/b", "..", "a b"] {
                try expectRefusal(run(file, "--interface", name), status: 2, says: ["interface"], in: lab.left)
            }
            try expectRefusal(run(file, "--log-level", "loud"), status: 2, says: ["loud"], in: lab.left)
        }
    }

    @Test("A configuration file that is missing, a folder or wrong in a line")
    func configurationFiles() throws {
        try Lab.run { lab in
            let missing = lab.folder.appendingPathComponent("missing.conf").path
            try expectRefusal(run(missing), status: 10, says: [missing], in: lab.left)
            try expectRefusal(run(lab.folder.path), status: 4, says: [lab.folder.path], in: lab.left)
            let pair = try TunnelPair()
            for (line, expected) in [
                ("ListenPort = 70000", "ListenPort"), ("Adress = 10.0.0.1/24", "Adress"), ("MTU = 12", "MTU"),
                ("PostUp = touch /tmp/never", "--allow-hooks"),
            ] {
                let text = pair.leftFile.replacingOccurrences(of: "[Interface]\n", with: "[Interface]\n\(line)\n")
                let file = try lab.write("bad.conf", text)
                try expectRefusal(run(file), status: 4, says: ["bad.conf:2", expected], in: lab.left)
            }
            let secret = pair.left.privateKey
            let file = try lab.write("key.conf", "[Interface]\nPrivateKey = \(secret)X\n")
            let outcome = try lab.left.attempt(
                Lab.providerhost, "run", "--bundle-id", "org.providerhost.wireguard", "--config", file)
            #expect(outcome.status == 4 && outcome.text.contains("key.conf:2") && !outcome.text.contains(secret))
        }
    }

    @Test("An existing interface is refused and left alone")
    func existingInterface() throws {
        try Lab.run { lab in
            try lab.left("ip", "tuntap", "add", "busy0", "mode", "tun")
            let file = try lab.write("tunnel.conf", TunnelPair().leftFile)
            try expectRefusal(run(file, "--interface", "busy0"), status: 4, says: ["busy0", "exists"], in: lab.left)
            try expectRefusal(run(file, "--interface", "cable"), status: 4, says: ["cable", "exists"], in: lab.left)
        }
    }

    @Test("A busy port, an endpoint that does not resolve")
    func unusableConfiguration() throws {
        try Lab.run { lab in
            var pair = try TunnelPair()
            let holder = try lab.start(on: lab.left, ["ncat", "-u", "-l", "51820"])
            try eventually("the holder of the port") { try lab.left("ss", "-Huln").contains(":51820") }
            let file = try lab.write("tunnel.conf", pair.leftFile)
            try expectRefusal(run(file), status: 4, says: ["51820", "in use"], in: lab.left)
            holder.end()
            pair.leftHost = "no-such-host.invalid"
            let unresolvable = try lab.write("name.conf", pair.rightFile)
            try expectRefusal(run(unresolvable), status: 4, says: ["no-such-host.invalid"], in: lab.left)
        }
    }

    @Test("Without CAP_NET_ADMIN the missing capability is named")
    func capability() throws {
        try Lab.run { lab in
            let file = try lab.write("tunnel.conf", TunnelPair().leftFile)
            try expectRefusal(
                run(file), status: 4, says: ["CAP_NET_ADMIN"], in: lab.left,
                prefix: ["setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin"])
        }
    }

    @Test("Without /dev/net/tun the message says how to get it")
    func noTunDevice() throws {
        try Lab.run { lab in
            let file = try lab.write("tunnel.conf", TunnelPair().leftFile)
            try expectRefusal(
                run(file), status: 4, says: ["/dev/net/tun", "modprobe tun"], in: lab.left,
                prefix: ["unshare", "-m", "bash", "-c", "mount -t tmpfs none /dev/net && exec \"$@\"", "sh"])
        }
    }

    @Test("Without IPv6 an IPv4 tunnel works and an IPv6 address is refused by name")
    func noIPv6() throws {
        try Lab.run { lab in
            try lab.left("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1")
            let pair = try TunnelPair()
            let file = try lab.write("tunnel.conf", pair.leftFile)
            try expectRefusal(run(file), status: 4, says: ["IPv6"], in: lab.left)
            let only4 = pair.leftFile.replacingOccurrences(of: ", fd07::1/64", with: "")
                .replacingOccurrences(of: ", fd07::2/128", with: "")
            let child = try lab.startTunnel(on: lab.left, only4)
            child.signal(SIGINT)
            #expect(try child.waitForExit() == 0)
        }
    }

    @Test("A disk that is full does not matter to run, which writes no file")
    func fullDisk() throws {
        try Lab.run { lab in
            let file = try lab.write("tunnel.conf", TunnelPair().leftFile)
            let child = try lab.start(
                on: lab.left,
                [
                    "unshare", "-m", "bash", "-c",
                    "mount -t tmpfs -o size=4k none /run && cat /dev/zero > /run/fill; exec \"$@\"", "sh",
                    Lab.providerhost, "run", "--bundle-id", "org.providerhost.wireguard", "--config", file,
                ], environment: ["TMPDIR": "/run"])
            try child.waitFor("connected phtun0")
            child.signal(SIGINT)
            #expect(try child.waitForExit() == 0, "\(child.output)")
        }
    }

    @Test("Output to a closed or full pipe does not stop the tunnel")
    func fullOutput() throws {
        try Lab.run { lab in
            let file = try lab.write("tunnel.conf", TunnelPair().leftFile)
            let child = try lab.start(
                on: lab.left,
                [
                    "bash", "-c", "exec \"$@\" > /dev/full", "sh", Lab.providerhost, "run", "--bundle-id",
                    "org.providerhost.wireguard", "--config", file,
                ])
            try eventually("the interface") { try lab.left("ip", "-br", "address").contains("10.7.0.1/24") }
            child.signal(SIGINT)
            #expect(try child.waitForExit() == 0, "\(child.output)")
        }
    }
}
