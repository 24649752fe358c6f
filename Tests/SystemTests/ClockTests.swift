import Foundation
import Testing

/// Tunnels on a machine whose wall clock and whose sleep are the test's (Tests/FakeClock).
@Suite("Wall clocks that jump", .enabled(if: isRoot), .serialized)
struct ClockTests {
    /// What makes a program see the time that `set` has chosen.
    private func environment(_ lab: Lab) -> [String: String] {
        ["LD_PRELOAD": Lab.buildFolder.appendingPathComponent("libFakeClock.so").path, "FAKE_CLOCK_FILE": file(lab)]
    }

    private func file(_ lab: Lab) -> String { lab.folder.appendingPathComponent("time").path }

    /// Moves the wall clock to so many seconds from the right time, after so many seconds of sleep in all.
    private func set(_ offset: Int, slept: Int = 0, _ lab: Lab) throws {
        try "\(offset) \(slept)".write(toFile: file(lab), atomically: true, encoding: .utf8)
    }

    @Test("A live tunnel does not notice jumps of a second, an hour and ten years")
    func liveTunnel() throws {
        try Lab.run { lab in
            let pair = try TunnelPair()
            try set(0, lab)
            _ = try lab.startTunnel(on: lab.left, pair.leftFile, environment: environment(lab))
            _ = try lab.startTunnel(on: lab.right, pair.rightFile)
            try lab.right.ping("10.7.0.1")
            for offset in [1, -1, 3600, -3600, 315_569_520, -315_569_520, 0] {
                try set(offset, lab)
                try lab.right.ping("10.7.0.1")
                try lab.left.ping("10.7.0.2")
            }
        }
    }

    @Test("A machine that slept for 5 s, 130 s, 200 s or an hour goes on with the next packet")
    func sleep() throws {
        try Lab.run { lab in
            var pair = try TunnelPair()
            pair.endpointAtLeft = true
            try set(0, lab)
            let child = try lab.startTunnel(on: lab.left, pair.leftFile, environment: environment(lab))
            _ = try lab.startTunnel(on: lab.right, pair.rightFile)
            try lab.left.ping("10.7.0.2")
            var slept = 0
            for duration in [5, 130, 200, 3600] {
                slept += duration
                try set(slept, slept: slept, lab)
                try lab.left.pingOnce("10.7.0.2")
                try lab.right.pingOnce("10.7.0.1")
            }
            #expect(!child.output.contains("The wall clock went"), "\(child.output)")
        }
    }

    @Test("After a restart with a clock that went back a peer answers at once, and the jump is told of")
    func restart() throws {
        try Lab.run { lab in
            var pair = try TunnelPair()
            pair.endpointAtLeft = true
            pair.endpointAtRight = false
            _ = try lab.startTunnel(on: lab.right, pair.rightFile)
            try set(7200, lab)
            let first = try lab.startTunnel(on: lab.left, pair.leftFile, environment: environment(lab))
            try lab.left.ping("10.7.0.2")
            first.end()
            try set(0, lab)
            let second = try lab.startTunnel(on: lab.left, pair.leftFile, environment: environment(lab))
            try lab.left.ping("10.7.0.2", wait: 2)
            try second.waitFor("The wall clock went back by ")
            second.end()
            // What was stored made the difference.
            let stored = lab.folder.appendingPathComponent(lab.left.namespace).path
            try FileManager.default.removeItem(atPath: stored + "/providers/org.providerhost.wireguard/timestamp")
            _ = try lab.startTunnel(on: lab.left, pair.leftFile, environment: environment(lab))
            #expect(try !lab.left.reaches("10.7.0.2"))
        }
    }
}
