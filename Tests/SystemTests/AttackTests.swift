import Foundation
import Testing

/// A tunnel whose peer sends what no peer should, and whom strangers flood.
@Suite("Under attack", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct AttackTests {
    static let attacks = ["malformed", "truncated", "flipped", "replayed", "reordered", "reflected"]

    @Test("Each of 2,000 messages is dropped for its reason and counted, or taken", arguments: attacks)
    func everyMessage(attack: String) throws {
        try Lab.run { lab in
            let scene = try AttackScene(lab)
            let report = try scene.finish(scene.start("exact", attack, "2000"))
            #expect(report.sent >= 2000)
            let drops = try scene.drops { $0 == report.drops }
            #expect(drops == report.drops)
            #expect(try scene.receivedBytes() == report.acceptedBytes)
            #expect(scene.victim.isRunning)
        }
    }

    @Test("While 65,536 sources flood it, a new peer connects within two seconds, all is counted, and it does not grow")
    func strangers() throws {
        try Lab.run { lab in
            let keys = try KeyPair()
            let scene = try AttackScene(
                lab, peers: "[Peer]\nPublicKey = \(keys.publicKey)\nAllowedIPs = 10.7.0.3/32\n")
            // 198.18.0.0/15 is for benchmarks (RFC 2544).
            try lab.right("ip", "route", "add", "local", "198.18.0.0/16", "dev", "lo")
            try lab.left("ip", "route", "add", "198.18.0.0/16", "via", "192.0.2.2")
            let memory = try scene.memory()
            // After 2.2 s every address has had its turn.
            let flood = try scene.start("flood", "strangers", "8", "30000")
            sleep(3)
            let newcomer = try lab.startTunnel(
                on: lab.right,
                """
                [Interface]
                PrivateKey = \(keys.privateKey)
                Address = 10.7.0.3/24
                [Peer]
                PublicKey = \(scene.victimKey)
                AllowedIPs = 10.7.0.1/32
                Endpoint = 192.0.2.1:51820
                """)
            try lab.right.ping("10.7.0.1", count: 1, wait: 2)
            let growth = try scene.memory() - memory
            #expect(growth < 8192, "\(growth) kB more than \(memory) kB")
            let report = try scene.finish(flood)
            // One more packet, since with it the kernel tells how many it had no room for.
            try lab.right.ping("10.7.0.1", count: 1)
            let drops = try scene.drops { $0.values.reduce(0, +) >= report.sent }
            #expect(drops.values.reduce(0, +) == report.sent, "\(drops)")
            #expect(drops["cookie_required", default: 0] > 0)
            #expect(scene.victim.isRunning && newcomer.isRunning)
        }
    }

    @Test("Of a source with a cookie 20 messages a second are looked at, five at once")
    func cookies() throws {
        try Lab.run { lab in
            let scene = try AttackScene(lab)
            let report = try scene.finish(scene.start("cookies", "3"))
            let drops = try scene.drops { $0["rate_limited", default: 0] > 0 }
            // The first one is answered, and what follows is the same again.
            let passed = 1 + drops["replayed_initiation", default: 0]
            #expect(passed + drops["rate_limited", default: 0] == report.sent, "\(drops)")
            let allowed = 20 * report.seconds + 5
            #expect(Double(passed) <= allowed + 1 && Double(passed) >= allowed / 2, "\(passed) of \(allowed)")
        }
    }
}
