import Foundation
import Testing

/// What a manager does about the leftovers of tunnels whose process was killed before it.
@Suite("Daemon and leftovers", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct DaemonSweepTests {
    @Test("The start of the manager sweeps as `sweep` does: rules, routes, kill switch, resolver, control socket")
    func start() throws {
        try Lab.run { lab in
            let room = try Room.withResolverFile(lab)
            let look = "cat /etc/resolv.conf; ls /etc | grep ^resolv; nft list tables; ls /run/wireguard"
            func state() throws -> String {
                // A kernel setting bears no mark of who changed it, so it stays.
                try (lab.right.networkState() + room.run(look)).replacingOccurrences(
                    of: "src_valid_mark = 1", with: "src_valid_mark = 0")
            }
            let before = try state()
            let pair = try TunnelPair()
            let killed = try room.startTunnel(pair, dns: "10.7.0.1", "--include-all-networks")
            killed.signal(SIGKILL)
            _ = try killed.waitForExit()
            try eventually("the end of the interface") { try !lab.right("ip", "-br", "link").contains("phtun0") }
            let left = try room.run(look)
            for part in ["nameserver 10.7.0.1", "providerhost_guard_phtun0", "phtun0.sock"] {
                #expect(left.contains(part), "\(left)")
            }

            let seen = try room.attempt("\(Lab.providerhost) doctor --json")
            #expect(seen.status == 1, "\(seen.text)")
            for part in ["providerhost_guard_phtun0", "phtun0.sock", "DNS of phtun0", "providerhost sweep"] {
                #expect(seen.text.contains(part), "\(seen.text)")
            }
            #expect(try room.run(look) == left, "doctor removes nothing")

            let daemon = try room.start([Lab.providerhost, "daemon"])
            try daemon.waitFor("The manager listens")
            for part in ["Removed what an earlier process left", "providerhost_guard_phtun0", "DNS of phtun0"] {
                #expect(daemon.output.contains(part), "\(daemon.output)")
            }
            #expect(try state() == before)
            #expect(try room.attempt("\(Lab.providerhost) sweep").text == "Nothing was left behind.\n")
            daemon.signal(SIGTERM)
            #expect(try daemon.waitForExit() == 0)
        }
    }
}
