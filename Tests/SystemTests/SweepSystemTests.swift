import Foundation
import Testing

/// What a killed tunnel leaves behind, and `providerhost sweep`.
@Suite("Sweep", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct SweepSystemTests {
    @Test("sweep removes all that a killed tunnel left, and nothing of one that runs")
    func sweep() throws {
        try Lab.run { lab in
            let empty = try lab.right.networkState()
            let pair = try TunnelPair()
            let alive = try lab.startTunnel(
                on: lab.right, pair.rightFile(routes: "198.51.100.0/24"), options: ["--enforce-routes"])
            let before = try lab.right.networkState() + lab.right("nft", "list", "ruleset")
            let killed = try lab.startTunnel(
                on: lab.right,
                pair.rightFile(routes: "0.0.0.0/0, ::/0").replacingOccurrences(of: "51821", with: "51822"),
                options: ["--include-all-networks"])
            #expect(killed.output.contains("connected phtun1"), "\(killed.output)")
            killed.signal(SIGKILL)
            try eventually("the end of the interface") { try !lab.right("ip", "-br", "link").contains("phtun1") }
            #expect(try lab.right("nft", "list", "tables").contains("providerhost_guard_phtun1"))
            #expect(try lab.right("ip", "rule").contains("unreachable"))
            let outcome = try lab.right.attempt(Lab.providerhost, "sweep", "--json")
            #expect(outcome.status == 0, "\(outcome.text)")
            for kind in ["rule", "route", "filterTable"] { #expect(outcome.text.contains(#""kind":"\#(kind)""#)) }
            #expect(outcome.text.contains(#""failures":[]"#) && outcome.text.contains(#""schema":1"#))
            let sysctl = "net.ipv4.conf.all.src_valid_mark = "
            func comparable(_ text: String) -> String {
                // A kernel setting bears no mark of who changed it, so it stays.
                text.replacingOccurrences(of: sysctl + "1", with: sysctl + "0")
            }
            let after = try lab.right.networkState() + lab.right("nft", "list", "ruleset")
            #expect(comparable(after) == comparable(before))
            let again = try lab.right.attempt(Lab.providerhost, "sweep")
            #expect(again.status == 0 && again.text == "Nothing was left behind.\n", "\(again.text)")
            alive.signal(SIGINT)
            #expect(try alive.waitForExit() == 0)
            #expect(try comparable(lab.right.networkState()) == comparable(empty))
        }
    }

    @Test("Control sockets go when nobody serves them; one that is served, and one of another name, stay")
    func sockets() throws {
        try Lab.run { lab in
            let folder = "/var/run/wireguard"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let number = Int.random(in: 300..<900)
            let paths = ["phtun\(number)", "phtun\(number + 1)", "other\(number)"].map { "\(folder)/\($0).sock" }
            defer { for path in paths { try? FileManager.default.removeItem(atPath: path) } }
            let servers = try paths.map { try lab.start(on: lab.right, ["ncat", "-lU", $0]) }
            for path in paths { try eventually(path) { FileManager.default.fileExists(atPath: path) } }
            for server in [servers[0], servers[2]] {
                server.signal(SIGKILL)
                _ = try server.waitForExit()
            }
            let outcome = try lab.right.attempt(Lab.providerhost, "sweep")
            #expect(outcome.text.contains("removed controlSocket \(paths[0])\n"), "\(outcome.text)")
            #expect(paths.map { FileManager.default.fileExists(atPath: $0) } == [false, true, true])
        }
    }

    @Test("An interface that goes a moment after its manager is waited for, and one that stays keeps what is its own")
    func lateInterface() throws {
        try Lab.run { lab in
            let name = "phtun\(Int.random(in: 300..<900))"
            let path = "/var/run/wireguard/\(name).sock"
            let table = "table inet providerhost_guard_\(name)\n"
            try FileManager.default.createDirectory(atPath: "/var/run/wireguard", withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: path) }
            let server = try lab.start(on: lab.right, ["ncat", "-lU", path])
            try eventually(path) { FileManager.default.fileExists(atPath: path) }
            server.signal(SIGKILL)
            _ = try server.waitForExit()
            try lab.right("ip", "tuntap", "add", "mode", "tun", "name", name)
            try lab.right("nft", "add", "table", "inet", "providerhost_guard_\(name)")
            let early = try lab.right.attempt(Lab.providerhost, "sweep")
            #expect(early.status == 0 && !early.text.contains(name), "\(early.text)")
            #expect(try lab.right("nft", "list", "tables") == table)
            let sweep = try lab.start(on: lab.right, [Lab.providerhost, "sweep"])
            usleep(150_000)
            try lab.right("ip", "link", "del", name)
            #expect(try sweep.waitForExit() == 0)
            #expect(sweep.output.contains("removed controlSocket \(path)\n"), "\(sweep.output)")
            #expect(try lab.right("nft", "list", "tables") == "")
        }
    }

    @Test("The next start without a kill switch ends the one that its predecessor left, and tells of another's")
    func predecessors() throws {
        try Lab.run { lab in
            let pair = try TunnelPair()
            for _ in 0..<2 {
                let child = try lab.startTunnel(on: lab.right, pair.rightFile, options: ["--include-all-networks"])
                child.signal(SIGKILL)
                _ = try child.waitForExit()
                try eventually("the end of the interface") { try !lab.right("ip", "-br", "link").contains("phtun0") }
            }
            try lab.right("nft", "add", "table", "inet", "providerhost_guard_phtun5")
            let next = try lab.startTunnel(on: lab.right, pair.rightFile)
            #expect(next.output.contains("providerhost_guard_phtun0"), "\(next.output)")
            #expect(next.output.contains("The kill switch of phtun5"), "\(next.output)")
            #expect(try lab.right("nft", "list", "tables") == "table inet providerhost_guard_phtun5\n")
            next.signal(SIGINT)
            #expect(try next.waitForExit() == 0)
        }
    }
}
