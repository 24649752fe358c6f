import Foundation
import ProviderKit
import Synchronization
import Testing
import WireGuard

@testable import WireGuardProvider

/// The file of the last time stamp, in a directory of the test's own.
@Suite("Stored time stamps")
final class TimestampRecordTests {
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    private let lines = Lines()

    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    private var path: String { directory + "/" + TimestampRecord.fileName }
    private var record: TimestampRecord {
        TimestampRecord(directory: directory) { [lines] level, text in
            lines.all.withLock { $0.append("\(level) \(text)") }
        }
    }
    private var log: [String] { lines.all.withLock { $0 } }

    init() throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    private func moment(_ second: UInt64, ahead: Int64 = 0) -> Moment {
        Moment(
            instant: Instant(nanoseconds: second * 1_000_000_000),
            wallClock: TAI64N(unixSeconds: 1_800_000_000 + Int64(second) + ahead, nanoseconds: 0))
    }

    /// Sends so many stamps, one a second, and returns the last.
    private func use(_ record: TimestampRecord, from second: UInt64, count: UInt64 = 1, ahead: Int64 = 0) -> TAI64N {
        var guarding = record.restored()
        for step in 0..<count {
            _ = guarding.next(moment(second + step, ahead: ahead))
            record.keep(&guarding)
        }
        return guarding.last
    }

    @Test("A start with a clock that went back goes on after the last stamp")
    func restart() throws {
        let before = use(record, from: 1, count: 100)
        let after = use(record, from: 200, ahead: -1_000_000)
        #expect(after > before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [TimestampRecord.fileName])
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(log.count == 1 && log.first?.hasPrefix("warning The wall clock went back by 99") == true)
    }

    @Test("The file is written once an hour")
    func writes() throws {
        var contents: Set<String> = []
        var guarding = record.restored()
        for minute in 0..<180 as Range<UInt64> {
            _ = guarding.next(moment(minute * 60))
            record.keep(&guarding)
            contents.insert(try String(contentsOfFile: path, encoding: .utf8))
        }
        #expect(contents.count == 3 && log.isEmpty)
    }

    @Test("A later stamp of another tunnel stays")
    func twoTunnels() throws {
        _ = use(record, from: 1, ahead: 50_000)
        let stored = try String(contentsOfFile: path, encoding: .utf8)
        var other = TimestampGuard(last: .zero)
        _ = other.next(moment(5))
        record.keep(&other)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == stored)
    }

    @Test(
        "What is no time stamp is told of and replaced", arguments: ["", "x", "@", String(repeating: "7", count: 300)])
    func garbage(text: String) throws {
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        _ = use(record, from: 1)
        #expect(log.allSatisfy { $0.hasPrefix("warning") && $0.contains(path) } && !log.isEmpty)
        let told = log.count
        _ = use(record, from: 2)
        #expect(log.count == told)
    }

    @Test("A link in the place of the file is not followed, and a directory that is gone stops nothing")
    func hostile() throws {
        let target = directory + "/elsewhere"
        try "@400000006b49d20a00000000\n".write(toFile: target, atomically: false, encoding: .utf8)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
        _ = use(record, from: 1)
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "@400000006b49d20a00000000\n")
        let gone = TimestampRecord(directory: directory + "/none") { [lines] _, text in
            lines.all.withLock { $0.append(text) }
        }
        let stamp = use(gone, from: 1)
        #expect(stamp > .zero && log.last?.contains("is not stored") == true)
    }
}
