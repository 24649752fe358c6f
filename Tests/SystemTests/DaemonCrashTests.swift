import Foundation
import Testing

/// A manager is killed at system calls of a start, an update and a stop: the machine is as before once the next manager, or
/// `providerhost sweep`, has cleaned up.
@Suite("Kill of the manager at its system calls", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct DaemonCrashTests {
    private static let isMeasuring = ProcessInfo.processInfo.environment["PROVIDERHOST_MEASURE"] != nil

    /// Kinds of calls by which a session changes the machine.
    private static let kinds = ["sendto": 6, "openat": 2, "rename": 2, "link": 1, "fsync": 2, "recvmsg": 2]

    @Test("A resolv.conf that is a file: everything is as before", .timeLimit(.minutes(30)))
    func file() throws {
        try Lab.run { lab in
            let room = try CrashRoom(lab, hasMountedFile: false)
            try room.saveProfile("office")
            let points = try room.countCalls("office").sorted { $0.key < $1.key }.flatMap { kind, count in
                spread(count, over: Self.isMeasuring ? 12 : Self.kinds[kind] ?? 0).map { (kind, $0) }
            }
            try run(room, points)
        }
    }

    @Test("A resolv.conf that is a mount of its own: everything is as before", .timeLimit(.minutes(10)))
    func mountedFile() throws {
        try Lab.run { lab in
            let room = try CrashRoom(lab, hasMountedFile: true)
            try room.saveProfile("office")
            let writes = try room.countCalls("office")["write"] ?? 0
            try run(room, spread(writes, over: Self.isMeasuring ? writes : 3).map { ("write", $0) })
        }
    }

    private func run(_ room: CrashRoom, _ points: [(String, Int)]) throws {
        let before = try room.state()
        var hits = 0
        var times: [Duration] = []
        for (number, point) in points.enumerated() {
            let outcome = try room.kill(
                at: point.0, point.1, starting: "office", from: before, sweeps: number.isMultiple(of: 2))
            #expect(outcome.difference == nil, "\(point.0) \(point.1): \(outcome.difference ?? "")")
            #expect(outcome.taken < .seconds(1), "\(point.0) \(point.1)")
            times.append(outcome.taken)
            if outcome.isHit { hits += 1 }
        }
        // A thread need not make exactly as many calls each time.
        #expect(hits * 3 >= points.count * 2, "\(hits) of \(points.count) kills hit")
        let sorted = times.sorted()
        print(
            "\(hits) kills in \(points.count) runs: clean after \(sorted[sorted.count / 2]),",
            "at most \(sorted[sorted.count - 1])")
    }

    /// Numbers from 1 to `count`, evenly apart.
    private func spread(_ count: Int, over parts: Int) -> [Int] {
        Set((0..<parts).map { max(1, (2 * $0 + 1) * count / (2 * parts)) }).sorted()
    }
}
