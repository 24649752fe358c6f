import Foundation
import Testing

/// A manager is killed at system calls of a start, an update and a stop: the machine is as before once the next manager, or
/// `providerhost sweep`, has cleaned up.
///
/// A first run under strace tells the calls of a thread in their order, and every kill must hit. CI tries calls that are far
/// apart in that order, and each by which resolv.conf is put in place. With `PROVIDERHOST_MEASURE=1` every call of both
/// threads is tried, which takes half an hour; with `=4`, one in four.
@Suite("Kill of the manager at its system calls", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct DaemonCrashTests {
    /// One of so many calls is tried; nil in CI.
    private static let stride = ProcessInfo.processInfo.environment["PROVIDERHOST_MEASURE"].flatMap { Int($0) }

    private static let profile = "office"

    @Test("A resolv.conf that is a file: everything is as before, from a start to a stop", .timeLimit(.minutes(60)))
    func file() throws {
        try withRoom(hasMountedFile: false, settings: "static") { room in
            let calls = try room.points(of: .session, Self.profile)
            let (placing, others) = (calls.filter(\.isPlacing), calls.filter { !$0.isPlacing })
            return try placing + spread(others, over: 10) + spread(room.points(of: .loop, Self.profile), over: 2)
        }
    }

    @Test("An update of the settings: everything is as before", .timeLimit(.minutes(60)))
    func update() throws {
        try withRoom(hasMountedFile: false, settings: "pushPreferred") { room in
            let threads = Self.stride == nil ? [.session] : CrashPoint.Thread.allCases
            return try threads.flatMap { spread(try room.updatePoints(of: $0, Self.profile), over: 3) }
        }
    }

    @Test("A resolv.conf that is a mount of its own: everything is as before", .timeLimit(.minutes(60)))
    func mountedFile() throws {
        try withRoom(hasMountedFile: true, settings: "static") { room in
            try room.points(of: .session, Self.profile).filter { $0.call == "write" }
        }
    }

    private func withRoom(
        hasMountedFile: Bool, settings: String, _ choose: (CrashRoom) throws -> [CrashPoint]
    ) throws {
        try Lab.run { lab in
            let room = try CrashRoom(lab, hasMountedFile: hasMountedFile)
            try room.saveProfile(Self.profile, settings: settings)
            let points = try choose(room)
            let before = try room.state()
            var times: [Duration] = []
            for (index, point) in points.enumerated() {
                let outcome = try room.kill(
                    at: point, starting: Self.profile, from: before, sweeps: index.isMultiple(of: 2))
                #expect(outcome.isHit, "\(point)")
                #expect(outcome.difference == nil, "\(point): \(outcome.difference ?? "")")
                #expect(outcome.taken < .seconds(1), "\(point)")
                times.append(outcome.taken)
            }
            let longest = try #require(times.max())
            print("\(times.count) kills: clean after \(times.sorted()[times.count / 2]), at most \(longest)")
        }
    }

    /// So many points, evenly apart, the first and the last among them; or all of them, as far as is measured.
    private func spread(_ points: [CrashPoint], over count: Int) -> [CrashPoint] {
        if let stride = Self.stride { return points.indices.filter { $0.isMultiple(of: stride) }.map { points[$0] } }
        return (0..<min(count, points.count)).map { points[$0 * (points.count - 1) / (count - 1)] }
    }
}

extension CrashPoint {
    /// Whether a file takes the place of another by it.
    fileprivate var isPlacing: Bool { ["rename", "link", "fsync"].contains(call) }
}
