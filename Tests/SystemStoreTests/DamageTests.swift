import Foundation
import ProviderKit
import SQLite
import Testing

@testable import SystemStore

@Suite struct DamageTests {
    private let scratch = Scratch()

    /// Overwrites part of a file.
    private func scribble(_ path: String, at offset: UInt64, _ bytes: [UInt8]) throws {
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seek(toOffset: offset)
        try file.write(contentsOf: Data(bytes))
        try file.close()
    }

    /// Makes a store with one configuration, closed again.
    private func fill() throws {
        _ = try scratch.open().perform { try $0.save(.tunnel(), of: .office) }
    }

    @Test(arguments: [(0, 16), (0, 100), (16, 2), (4_096, 400), (5_000, 20_000)] as [(Int, Int)])
    func aDamagedFileIsSetAside(_ offset: Int, _ count: Int) throws {
        try fill()
        try scribble(scratch.folder.database, at: UInt64(offset), Array(repeating: 0xA5, count: count))
        let damaged = try Data(contentsOf: URL(fileURLWithPath: scratch.folder.database))
        let store = try scratch.open()
        #expect(try store.read { try $0.allConfigurations() }.isEmpty)
        let report = try #require(scratch.reported.first)
        #expect(report.code == .damaged && report.cause.contains(".damaged-20"), "\(report)")
        let aside = try #require(try scratch.names.first { $0.contains(".damaged-") && !$0.hasSuffix("-wal") })
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.path(aside))) == damaged)
        // The new store works, and is not taken for damaged.
        _ = try store.perform { try $0.save(.tunnel(), of: .office) }
        #expect(try scratch.open().read { try $0.allConfigurations() }.count == 1)
        #expect(scratch.reported.count == 1)
    }

    @Test func aStoreThatIsDamagedWhileItIsOpenIsReplaced() throws {
        let store = try scratch.open()
        try store.perform { store in
            for index in 0..<200 { try store.save(.tunnel("Tunnel \(index)"), of: .office) }
        }
        // Into the file itself, behind the connection, which then has to read it again.
        try store.read { _ = try $0.database.rows("PRAGMA wal_checkpoint(TRUNCATE)") { $0.integer(0) } }
        let size = try FileManager.default.attributesOfItem(atPath: scratch.folder.database)[.size] as? Int ?? 0
        try scribble(scratch.folder.database, at: 4_096, Array(repeating: 0xA5, count: size - 4_096))
        try store.read { try $0.database.execute("PRAGMA shrink_memory") }
        let error = try #require(throws: VPNError.self) { try store.read { _ = try $0.allConfigurations() } }
        #expect(error.code == .configurationReadWriteFailed)
        #expect(scratch.reported.map(\.code) == [.damaged])
        let saved = try store.perform { try $0.save(.tunnel(), of: .office) }
        #expect(try scratch.open().read { try $0.allConfigurations() }.map(\.configuration) == [saved])
    }

    @Test func anotherProcessThatReplacesTheStoreIsFollowed() throws {
        let store = try scratch.open()
        _ = try store.perform { try $0.save(.tunnel(), of: .office) }
        try store.read { _ = try $0.database.rows("PRAGMA wal_checkpoint(TRUNCATE)") { $0.integer(0) } }
        try scribble(scratch.folder.database, at: 4_096, Array(repeating: 0xA5, count: 4_096))
        let other = try scratch.open()
        let saved = try other.perform { try $0.save(.tunnel("new"), of: .office) }
        #expect(try store.read { try $0.allConfigurations() }.map(\.configuration) == [saved])
        _ = try store.perform { try $0.save(.tunnel(), of: .office) }
        #expect(try other.read { try $0.allConfigurations() }.count == 2)
        #expect(scratch.reported.count == 1)
    }

    @Test func aRowThatCannotBeReadHidesNoOther() throws {
        let store = try scratch.open()
        let (bad, good) = try store.perform { session in
            (try session.save(.tunnel("a"), of: .office), try session.save(.tunnel("b"), of: .office))
        }
        _ = try store.perform { session in
            try session.database.run(
                "UPDATE configurations SET content = ? WHERE identifier = ?", .blob([0x7B]),
                .text(bad.identifier.description))
        }
        #expect(try store.read { try $0.configurations(of: .office) } == [good])
        #expect(try store.read { try $0.allConfigurations() }.map(\.configuration) == [good])
        #expect(try store.read { try $0.unreadableConfigurations() } == [bad.identifier.description])
        let error = try #require(throws: VPNError.self) {
            try store.read { _ = try $0.configuration(bad.identifier, of: .office) }
        }
        #expect(error.code == .configurationReadWriteFailed)
        try store.perform { try $0.remove(bad.identifier, of: .office) }
        #expect(try store.read { try $0.unreadableConfigurations() }.isEmpty)
    }

    @Test func aLaterVersionIsRefusedAndLeftAlone() throws {
        try fill()
        try Database(path: scratch.folder.database).setUserVersion(StoreSchema.steps.count + 1)
        let error = try #require(throws: StoreError.self) { _ = try scratch.open() }
        #expect(error.code == .newerVersion && error.cause.contains("\(StoreSchema.steps.count + 1)"))
        #expect(try scratch.names.allSatisfy { !$0.contains("damaged") })
    }

    @Test func anEarlierVersionIsMigratedOnce() throws {
        try fill()
        let steps = StoreSchema.steps + ["CREATE TABLE later (v INTEGER) STRICT; INSERT INTO later VALUES (7)"]
        for _ in 0..<2 {
            let store = try SystemStore(folder: scratch.folder, steps: steps) { _ in }
            #expect(try store.read { try $0.database.number("SELECT sum(v) FROM later") } == 7)
            #expect(try store.read { try $0.allConfigurations() }.count == 1)
        }
    }

    @Test func aStepThatFailsChangesNothing() throws {
        try fill()
        let steps = StoreSchema.steps + ["CREATE TABLE later (v)", "SELECT nothing"]
        let error = try #require(throws: StoreError.self) {
            _ = try SystemStore(folder: scratch.folder, steps: steps) { _ in }
        }
        #expect(error.code == .unreadable && error.cause.contains("nothing"), "\(error)")
        let database = try Database(path: scratch.folder.database)
        #expect(try database.userVersion == StoreSchema.steps.count)
        #expect(try database.number("SELECT count(*) FROM sqlite_schema WHERE name = 'later'") == 0)
    }
}
