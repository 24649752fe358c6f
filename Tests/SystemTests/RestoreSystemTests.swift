import Foundation
import Testing

/// Other programs that remove what is ours while a tunnel is up.
@Suite("Restoring", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct RestoreSystemTests {
    @Test("Flushed rules, routes, addresses and filter tables come back, and the log says so once")
    func flushes() throws {
        try Lab.run { lab in
            let pair = try TunnelPair()
            let leaks = try Leaks(lab)
            _ = try lab.startPeer(on: lab.left, pair.leftPlain, last: 1)
            let tunnel = try lab.startTunnel(
                on: lab.right, pair.rightFile(routes: "0.0.0.0/0, ::/0"), options: ["--include-all-networks"])
            try lab.right.ping("10.7.0.1")
            func state() throws -> String {
                try lab.right.networkState() + lab.right("nft", "list", "ruleset")
            }
            let before = try state()
            let flushes = [
                "nft flush ruleset", "nft flush table inet providerhost_guard_phtun0",
                """
                for family in -4 -6; do
                    for rule in $(ip $family rule | sed -n 's/^\\([56][0-9][0-9][0-9]\\):.*/\\1/p'); do
                        ip $family rule del pref $rule
                    done
                done
                """,
                """
                table=$(ip rule | sed -n 's/.*lookup \\(54[0-9]*\\).*/\\1/p')
                ip -4 route flush table $table; ip -6 route flush table $table
                """,
                "ip address flush dev phtun0 scope global",
            ]
            for flush in flushes {
                try lab.right("sh", "-c", flush)
                try eventually(seconds: 20, flush) { try state() == before }
            }
            #expect(try leaks.tried() == [])
            try lab.right.ping("10.7.0.1")
            let told = tunnel.output.components(separatedBy: "Another program removed").count - 1
            #expect(told == 1, "\(tunnel.output)")
            tunnel.signal(SIGINT)
            #expect(try tunnel.waitForExit() == 0)
        }
    }
}
