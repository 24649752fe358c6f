import Foundation
import TestSupport
import Testing

/// Where queries go while a tunnel is up, and what is left of it afterwards.
@Suite("DNS", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct DNSTests {
    @Test(
        "systemd-resolved: every query enters the tunnel, none leaves beside it, and all is as before at the end",
        .enabled(if: ResolverRoom.isAvailable, "needs dbus and an unpacked systemd-resolved"))
    func resolved() throws {
        try Lab.run { lab in
            let room = try Room.withResolved(lab)
            defer { ResolverRoom.end(room.folder) }
            let pair = try TunnelPair()
            let (_, interface) = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            let watch = try QueryWatch(lab, inside: interface)
            let (cable, inside) = (watch.cable, watch.inside)
            try room.ask("before.example")
            try cable.waitFor("before.example")
            let tunnel = try room.startTunnel(pair, dns: "10.7.0.1")
            #expect(!tunnel.output.contains("dnsSettings"), "\(tunnel.output)")
            try room.ask("during.example")
            try inside.waitFor("during.example")
            #expect(!cable.output.contains("during.example"), "\(cable.output)")

            ResolverRoom.signal(SIGKILL, "resolved", room.folder)
            try room.hold(ResolverRoom.resolvedStart(room.folder))
            try tunnel.waitFor("DNS is set again")
            try room.ask("restarted.example")
            try inside.waitFor("restarted.example")
            #expect(!cable.output.contains("restarted.example"), "\(cable.output)")

            tunnel.signal(SIGINT)
            #expect(try tunnel.waitForExit() == 0)
            try room.ask("after.example")
            try cable.waitFor("after.example")
            #expect(!inside.output.contains("after.example"))
        }
    }

    @Test("resolv.conf: written, restored at the end, and restored by the next start after a kill")
    func file() throws {
        try Lab.run { lab in
            let room = try Room.withResolverFile(lab)
            let look = "cat /etc/resolv.conf; stat -c '%i %a %u %g %Y' /etc/resolv.conf; ls /etc | grep ^resolv"
            let before = try room.run(look)
            let pair = try TunnelPair()
            let (_, interface) = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            let watch = try QueryWatch(lab, inside: interface)
            let (cable, inside) = (watch.cable, watch.inside)
            let first = try room.startTunnel(pair, dns: "10.7.0.1, corp.example")
            try room.ask("during.example")
            try inside.waitFor("during.example")
            #expect(!cable.output.contains("during.example"), "\(cable.output)")
            #expect(try room.run("cat /etc/resolv.conf").hasSuffix("nameserver 10.7.0.1\nsearch corp.example\n"))
            first.signal(SIGINT)
            #expect(try first.waitForExit() == 0)
            #expect(try room.run(look) == before)

            let killed = try room.startTunnel(pair, dns: "10.7.0.1")
            killed.signal(SIGKILL)
            _ = try killed.waitForExit()
            #expect(try room.run("cat /etc/resolv.conf").contains("nameserver 10.7.0.1"))
            let next = try room.startTunnel(pair, dns: "10.7.0.1", "--dns", "none")
            try next.waitFor("DNS of phtun0")
            try next.waitFor("--dns none")
            #expect(try room.run(look) == before)
            next.signal(SIGINT)
            #expect(try next.waitForExit() == 0)
        }
    }

    @Test(
        "A resolver that hangs fails the start within seconds, and nothing is left",
        .enabled(if: ResolverRoom.isAvailable, "needs dbus and an unpacked systemd-resolved"))
    func hangs() throws {
        try Lab.run { lab in
            let room = try Room.withResolved(lab)
            defer { ResolverRoom.end(room.folder) }
            ResolverRoom.signal(SIGSTOP, "resolved", room.folder)
            let before = try lab.right.networkState()
            let start = Date.now
            let child = try room.start(TunnelPair().rightFile(with: "DNS = 10.7.0.1"))
            #expect(try child.waitForExit(seconds: 20) == 4)
            #expect(Date.now.timeIntervalSince(start) < 12)
            #expect(child.output.contains("systemd-resolved") && child.output.contains("--dns none"), "\(child.output)")
            #expect(try lab.right.networkState() == before)
        }
    }

    @Test("A namespace without a resolv.conf of its own leaves the machine's alone, and says so")
    func foreignFile() throws {
        try Lab.run { lab in
            let before = try Machine.host("stat", "-c", "%i %Y", "/etc/resolv.conf")
            let child = try lab.startTunnel(on: lab.right, TunnelPair().rightFile(with: "DNS = 10.7.0.1"))
            try child.waitFor("/etc/netns/NAME/resolv.conf")
            #expect(try Machine.host("stat", "-c", "%i %Y", "/etc/resolv.conf") == before)
            child.signal(SIGINT)
            #expect(try child.waitForExit() == 0)
            #expect(try Machine.host("stat", "-c", "%i %Y", "/etc/resolv.conf") == before)
        }
    }

    @Test("A back end that does not exist is a usage error")
    func unknownBackend() throws {
        let outcome = try Machine.outcome([Lab.providerhost, "run", "--bundle-id", "x", "--dns", "bind"])
        #expect(outcome.status == 2 && outcome.text.contains("resolvconf"), "\(outcome.text)")
    }
}
