import Foundation
import SQLite
import Testing

@Suite struct DatabaseTests {
    private struct Abandoned: Error {}

    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func open(_ options: DatabaseOptions = DatabaseOptions()) throws -> Database {
        try Database(path: scratch.path("a.sqlite"), options: options)
    }

    private func failure(_ body: () throws -> Void) throws -> SQLiteError {
        try #require(throws: SQLiteError.self) { try body() }
    }

    @Test func valuesOfEveryKindComeBackAsTheyWere() throws {
        let database = try open()
        try database.execute("CREATE TABLE t (position INTEGER PRIMARY KEY, v)")
        let values: [SQLiteValue] = [
            nil, 0, .integer(.min), .integer(.max), .real(-0.5), "", "a\u{0}b", "Zürich 🛰️", .blob([]),
            .blob([0, 255, 0]),
            .boolean(true), .optional(nil as String?), .optional(7 as Int64?),
        ]
        for value in values { try database.run("INSERT INTO t (v) VALUES (?)", value) }
        let stored = try database.rows("SELECT v FROM t ORDER BY position") { $0.value(0) }
        #expect(stored == values)
    }

    @Test func columnsAreReadAsTheTypeThatIsAskedFor() throws {
        let database = try open()
        let row = try database.firstRow("SELECT 7, 'x', NULL, 1.5, x'0102'") { row in
            #expect(row.columnCount == 5)
            #expect(row.integer(0) == 7 && row.boolean(0) && row.text(0) == "7")
            #expect(row.text(1) == "x" && row.optionalInteger(2) == nil && row.isNull(2) && row.text(2).isEmpty)
            #expect(row.real(3) == 1.5 && row.bytes(4) == [1, 2] && row.optionalBytes(2) == nil)
            return true
        }
        #expect(row == true)
    }

    @Test func aStatementIsBoundAgain() throws {
        let database = try open()
        var statement = try database.prepare("SELECT ?1 + ?2")
        for number in 0..<3 as Range<Int64> {
            try statement.bind([.integer(number), 10])
            let hasRow = try statement.step()
            #expect(hasRow)
            let sum = statement.integer(0)
            #expect(sum == number + 10)
        }
    }

    @Test func anotherNumberOfValuesIsRefused() throws {
        let database = try open()
        #expect(try failure { try database.run("SELECT ?, ?", 1) }.code == .range)
        #expect(try failure { _ = try database.prepare("  ") }.code.rawValue == 1)
        #expect(try failure { try database.execute("SELEKT") }.message.contains("SELEKT"))
    }

    @Test func aTransactionIsAllOrNothing() throws {
        let database = try open()
        try database.execute("CREATE TABLE t (v UNIQUE)")
        try database.transaction { _ = try database.run("INSERT INTO t VALUES (1)") }
        #expect(throws: Abandoned.self) {
            try database.transaction {
                try database.run("INSERT INTO t VALUES (2)")
                throw Abandoned()
            }
        }
        let duplicate = try failure {
            try database.transaction {
                try database.run("INSERT INTO t VALUES (3)")
                try database.run("INSERT INTO t VALUES (1)")
            }
        }
        #expect(duplicate.isDuplicate && duplicate.code == .constraint && duplicate.message.contains("t.v"))
        let isOpen = database.isInTransaction
        #expect(!isOpen)
        #expect(try database.rows("SELECT v FROM t") { $0.integer(0) } == [1])
    }

    @Test func theSchemaVersionIsPartOfTheTransaction() throws {
        let database = try open()
        #expect(try database.userVersion == 0)
        #expect(throws: Abandoned.self) {
            try database.transaction {
                try database.setUserVersion(3)
                throw Abandoned()
            }
        }
        #expect(try database.userVersion == 0)
        try database.transaction { try database.setUserVersion(4) }
        #expect(try open().userVersion == 4)
    }

    @Test func anothersChangeShowsInTheDataVersion() throws {
        let mine = try open()
        let other = try open()
        try mine.execute("CREATE TABLE t (v)")
        let before = try mine.dataVersion
        try mine.run("INSERT INTO t VALUES (1)")
        #expect(try mine.dataVersion == before)
        try other.run("INSERT INTO t VALUES (2)")
        #expect(try mine.dataVersion != before)
    }

    @Test func aLockHeldTooLongIsBusy() throws {
        let holder = try open()
        try holder.execute("CREATE TABLE t (v)")
        let waiter = try open(DatabaseOptions(busyTimeoutMilliseconds: 50))
        try holder.transaction {
            let error = try failure { try waiter.transaction {} }
            #expect(error.code == .busy)
        }
        try waiter.transaction {}
    }

    @Test func theFileIsItsOwnersAlone() throws {
        let mask = umask(0)
        defer { umask(mask) }
        let database = try open()
        try database.execute("CREATE TABLE t (v)")
        for name in ["a.sqlite", "a.sqlite-wal", "a.sqlite-shm"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: scratch.path(name))
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }

    @Test func accessIsWhatWasAskedFor() throws {
        #expect(try failure { _ = try open(DatabaseOptions(access: .readOnly)) }.code == .cannotOpen)
        #expect(try failure { _ = try open(DatabaseOptions(access: .readWrite)) }.code == .cannotOpen)
        #expect(try failure { _ = try Database(path: scratch.path("none/a")) }.code == .cannotOpen)
        try open().execute("CREATE TABLE t (v)")
        let reader = try open(DatabaseOptions(access: .readOnly))
        #expect(try failure { try reader.run("INSERT INTO t VALUES (1)") }.code == .readOnly)
        #expect(try open(DatabaseOptions(access: .readWrite)).integrityFindings().isEmpty)
    }

    @Test func aSymbolicLinkIsRefused() throws {
        try open().execute("CREATE TABLE t (v)")
        let link = scratch.path("link.sqlite")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: scratch.path("a.sqlite"))
        #expect(try failure { _ = try Database(path: link) }.code == .cannotOpen)
    }

    @Test func theFolderMayBeReachedThroughALink() throws {
        let link = scratch.path("folder")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: scratch.folder)
        try Database(path: link + "/a.sqlite").execute("CREATE TABLE t (v)")
        #expect(try open().number("SELECT count(*) FROM t") == 0)
    }

    @Test func aFileThatIsNoDatabaseIsDamage() throws {
        try Data(repeating: 0x41, count: 8_192).write(to: URL(fileURLWithPath: scratch.path("a.sqlite")))
        let error = try failure { _ = try open() }
        #expect(error.isDamage && error.code == .notADatabase, "\(error)")
    }
}
