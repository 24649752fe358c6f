import Foundation
import Testing

@testable import Benchmarks

/// What changes of pushed settings do to traffic: nothing to that of other routes, and nothing of theirs leaves in clear text.
///
/// Half of full rate is meant of packets: before anything changes, both directions of the unchanged route are filled to see how
/// much arrives, and run at half of that from then on. Updates come one after the other as fast as the client takes them, which
/// with `maxChangesPerMinute = 60` is one a second.
@Suite("Updates of settings under load", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct UpdateTests {
    /// 30 updates, and 1,000 where figures are taken.
    private static let updates = ProcessInfo.processInfo.environment["PROVIDERHOST_MEASURE"] == nil ? 30 : 1_000

    /// Where the unchanged route leads to.
    private static let steady = "10.20.0.1"
    /// Where the routes lead to that come and go.
    private static let moving = "10.30.0.9"
    /// What a client prints for settings that it has applied and the gateway has acknowledged.
    private static let mark = "of the gateway: applied"
    private static let (outward, inward, moved) = (17_001, 17_002, 17_009)

    /// Each leaves a route to ``moving``, so that it belongs into the tunnel at every moment, by one route or the other.
    private static let changes = [
        ["add", "10.30.0.0/24"], ["remove", "0.0.0.0/0"], ["add", "0.0.0.0/0"], ["remove", "10.30.0.0/24"],
    ]

    @Test(
        "lose no datagram of an unchanged route, and let none of a changed one out in clear text",
        .timeLimit(.minutes(60)))
    func updates() throws {
        try Lab.run { lab in
            for address in [Self.steady, Self.moving] {
                try lab.left("ip", "address", "add", "\(address)/32", "dev", "lo")
            }
            let leaks = try Leaks(lab)
            try requireSight(of: leaks, in: lab)

            let gateway = try GatewayEnd(lab)
            let line = try gateway("peer", "add", "alice")
            let own = try #require(
                line.split { " ,\n".contains($0) }.map(String.init).first { $0.hasPrefix("10.7.0.") })
            for route in ["10.20.0.0/16", "0.0.0.0/0"] { try gateway("route", "add", route) }
            let server = try gateway.start()
            let policy = "# acceptDefaultRoute = true\n# maxChangesPerMinute = 60\n"
            let client = try lab.startTunnel(
                on: lab.right,
                gateway("export", "alice").replacing(
                    "[Interface]\n", with: "[Interface]\n\(policy)", maxReplacements: 1))
            try lab.right.ping(Self.steady)

            let ways = [
                NumberedWay(from: lab.right, to: lab.left, Self.steady, port: Self.outward),
                NumberedWay(from: lab.left, to: lab.right, own, port: Self.inward, source: Self.steady),
            ]
            let full = try ways.map { try $0.begin(lab, rate: 0, seconds: 2) }.map { try $0.finish() }
            let rates = full.map { Int($0.rate / 2) }
            // A busy machine lets either end wait for its core: what waits meanwhile is not lost.
            try lab.left("ip", "link", "set", gateway.interface, "txqueuelen", "100000")
            try lab.right("ip", "link", "set", "phtun0", "txqueuelen", "100000")
            try lab.right.ping(Self.steady)
            let quiet = try zip(ways, rates).map { try $0.begin(lab, rate: $1, seconds: 5) }.map { try $0.finish() }
            for flow in quiet { try #require(flow.isWhole, "without any change: \(flow)") }

            let before = leaks.packets.count
            let overflowsBefore = try overflows(in: lab, gateway)
            let flows = try zip(ways, rates).map { try $0.begin(lab, rate: $1) }
            let crossing = try NumberedWay(from: lab.right, to: lab.left, Self.moving, port: Self.moved).begin(
                lab, rate: 1_000)
            let begin = ContinuousClock.now
            for number in 0..<Self.updates {
                let known = applied(client)
                try gateway.run(["route"] + Self.changes[number % Self.changes.count])
                // A message that is lost on a busy machine is repeated, after a second and more.
                try client.waitFor(Self.mark, moreThan: known, seconds: 30)
            }
            let taken = ContinuousClock.now - begin
            let steady = try flows.map { try $0.finish() }
            let crossed = try crossing.finish()
            print(
                "\(Self.updates) updates in \(taken); full rate \(full); half \(rates) a second: \(steady); changed: \(crossed)"
            )
            // What a queue of the kernel had no room for, because the machine was busy otherwise, was not lost by a change.
            let overflows = try overflows(in: lab, gateway) - overflowsBefore
            print("overflows of queues: \(overflows)")
            for flow in steady { #expect(flow.isWhole || overflows > 0, "\(flow)") }
            let clear = leaks.packets.dropFirst(before)
            #expect(clear.isEmpty, "\(clear.prefix(10))")
            #expect(client.isRunning && server.isRunning)

            client.signal(SIGINT)
            #expect(try client.waitForExit(seconds: 20) == 0)
            try requireSight(of: leaks, in: lab)
        }
    }

    /// Requires that what goes to ``moving`` without a tunnel is seen, which shows that a leak would be.
    private func requireSight(of leaks: Leaks, in lab: Lab) throws {
        let before = leaks.packets.count
        let beside = try NumberedWay(from: lab.right, to: lab.left, Self.moving, port: Self.moved).begin(
            lab, rate: 100, seconds: 0.2)
        let sent = try beside.finish().sent.sent
        try #require(sent > 0)
        try eventually("what goes beside the tunnel") {
            leaks.packets.dropFirst(before).count { $0.contains("\(Self.moving).\(Self.moved): UDP") } == sent
        }
    }

    /// How often a queue of the kernel was full: those of the sockets on both machines, and those towards the tunnels.
    private func overflows(in lab: Lab, _ gateway: GatewayEnd) throws -> Int {
        try [(lab.left, gateway.interface), (lab.right, "phtun0")].reduce(0) { sum, end in
            let lines = try end.0("cat", "/proc/net/snmp").split(separator: "\n").filter { $0.hasPrefix("Udp: ") }
            let fields = lines.map { $0.split(separator: " ") }
            let place = try #require(fields.first?.firstIndex(of: "RcvbufErrors"))
            let dropped = try end.0("cat", "/sys/class/net/\(end.1)/statistics/tx_dropped")
            let counts = [String(fields[1][place]), dropped.trimmingCharacters(in: .whitespacesAndNewlines)]
            return try sum + counts.reduce(0) { try $0 + #require(Int($1)) }
        }
    }

    /// How many settings a client has applied and the gateway has acknowledged.
    private func applied(_ client: Child) -> Int { client.output.components(separatedBy: Self.mark).count - 1 }
}
