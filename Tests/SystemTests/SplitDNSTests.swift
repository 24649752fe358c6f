import Foundation
import TestSupport
import Testing

/// Where questions go when only some names belong into the tunnel, as a profile or a gateway says.
@Suite("Split DNS", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct SplitDNSTests {
    private static let needsResolved: Comment = "needs dbus and an unpacked systemd-resolved"

    /// Runs `body` with a room whose programs ask systemd-resolved.
    private func withResolved(_ body: (Lab, Room) throws -> Void) throws {
        try Lab.run { lab in
            let room = try Room.withResolved(lab)
            defer { ResolverRoom.end(room.folder) }
            try body(lab, room)
        }
    }

    @Test(
        "A profile's match domains and what is below them go into the tunnel, all else to the resolver before it",
        .enabled(if: ResolverRoom.isAvailable, needsResolved))
    func profile() throws {
        try withResolved { lab, room in
            let pair = try TunnelPair()
            let (_, interface) = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            let watch = try QueryWatch(lab, inside: interface)
            let file = pair.rightFile(with: "DNS = 10.7.0.1", "# match_domains = corp.example, lab.example")
            let tunnel = try room.startTunnel(file)
            #expect(!tunnel.output.contains("dnsSettings"), "\(tunnel.output)")
            try watch.expect(
                in: room, through: ["corp.example", "www.corp.example", "a.b.corp.example", "www.lab.example"],
                beside: ["notcorp.example", "www.notcorp.example", "corp.example.org", "www.other.example"])
            // No domain of a match list completes a name, so a single label is nobody's business but the machine's.
            try room.ask("intranet")
            #expect(!watch.inside.output.contains("intranet"), "\(watch.inside.output)")

            ResolverRoom.signal(SIGKILL, "resolved", room.folder)
            try room.hold(ResolverRoom.resolvedStart(room.folder))
            try tunnel.waitFor("DNS is set again")
            try watch.expect(in: room, through: ["again.corp.example"], beside: ["again.other.example"])

            tunnel.signal(SIGINT)
            #expect(try tunnel.waitForExit() == 0)
            try watch.expect(in: room, through: [], beside: ["after.corp.example"])
        }
    }

    @Test(
        "A search domain of a profile completes single labels, and takes them into the tunnel",
        .enabled(if: ResolverRoom.isAvailable, needsResolved))
    func search() throws {
        try withResolved { lab, room in
            let pair = try TunnelPair()
            let (_, interface) = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            let watch = try QueryWatch(lab, inside: interface)
            let file = pair.rightFile(with: "DNS = 10.7.0.1, office.example", "# match_domains = corp.example")
            _ = try room.startTunnel(file)
            try room.ask("intranet")
            try watch.inside.waitFor("? intranet.office.example. ")
            #expect(!watch.cable.output.contains("intranet.office"), "\(watch.cable.output)")
            try watch.expect(
                in: room, through: ["www.office.example", "www.corp.example"], beside: ["www.notoffice.example"])
        }
    }

    @Test(
        "What a gateway pushes decides, and what it pushes next; its search domains complete names with consent only",
        .enabled(if: ResolverRoom.isAvailable, needsResolved))
    func pushed() throws {
        try withResolved { lab, room in
            let gateway = try GatewayEnd(lab)
            try gateway("peer", "add", "alice")
            try gateway("dns", "set", "10.7.0.1", "--match", "corp.example", "--search", "office.example")
            _ = try gateway.start()
            let watch = try QueryWatch(lab, inside: gateway.interface)
            let file = try gateway("export", "alice")
            let tunnel = try room.startTunnel(file)
            try watch.expect(
                in: room, through: ["www.corp.example", "www.office.example"],
                beside: ["notcorp.example", "www.other.example"])
            try room.ask("intranet")
            #expect(!watch.inside.output.contains("intranet"), "\(watch.inside.output)")

            try gateway("dns", "set", "10.7.0.1", "--match", "lab.example")
            try eventually("the new domain at the client") {
                try room.ask("new.lab.example")
                return watch.asked("new.lab.example", at: watch.inside)
            }
            try watch.expect(in: room, through: ["www.lab.example"], beside: ["late.corp.example"])
            tunnel.signal(SIGINT)
            #expect(try tunnel.waitForExit(seconds: 20) == 0)

            try gateway("dns", "set", "10.7.0.1", "--search", "office.example")
            _ = try room.startTunnel(
                file.replacing("[Interface]\n", with: "[Interface]\n# acceptSearchDomains = true\n"))
            // The gateway may still have told it of the offer before.
            try eventually("the search domain at the client") {
                try room.ask("printer")
                return watch.asked("printer.office.example", at: watch.inside)
            }
            #expect(!watch.cable.output.contains("printer.office"), "\(watch.cable.output)")
        }
    }

    @Test(
        "A resolv.conf cannot split: it stays as it is, the tunnel is up, and the user is told why and what would help")
    func file() throws {
        try Lab.run { lab in
            let room = try Room.withResolverFile(lab)
            let look = "cat /etc/resolv.conf; stat -c '%i %Y' /etc/resolv.conf; ls /etc | grep ^resolv"
            let before = try room.run(look)
            let pair = try TunnelPair()
            let (_, interface) = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            let watch = try QueryWatch(lab, inside: interface)
            let tunnel = try room.startTunnel(
                pair.rightFile(with: "DNS = 10.7.0.1", "# match_domains = corp.example"))
            let sentences =
                "Not applied: /etc/resolv.conf cannot send some names only to a server. systemd-resolved can"
            #expect(tunnel.output.contains("dnsSettings: " + sentences), "\(tunnel.output)")
            let shown = try room.run("\(Lab.providerhost) settings show --tunnel phtun0")
            #expect(shown.contains("Domain         corp.example") && shown.contains("  ! dnsSettings: " + sentences))
            let object = try room.run("\(Lab.providerhost) settings show --tunnel phtun0 --json")
            #expect(object.contains(#""part":"dnsSettings""#) && object.contains(#""remedy":"systemd-resolved can"#))
            #expect(try room.run(look) == before)
            try watch.expect(in: room, through: [], beside: ["www.corp.example", "www.other.example"])
            tunnel.signal(SIGINT)
            #expect(try tunnel.waitForExit() == 0)
            #expect(try room.run(look) == before)
        }
    }
}
