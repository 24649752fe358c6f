internal import Foundation
internal import ProviderKit
internal import SQLite

/// The open store inside one transaction: what ``SystemStore/perform(_:)`` lends.
///
/// SAFETY: `SystemStore` keeps the only reference, and lends it under its lock for the length of one call.
public final class StoreSession: @unchecked Sendable {
    let folder: StateFolder
    let database: Database
    var keyRing: KeyRing
    private let identity: FileIdentity?

    /// Opens the store, and makes it where it is missing.
    ///
    /// - Parameters:
    ///   - folder: The folder, prepared.
    ///   - steps: The steps of the schema; tests give their own.
    /// - Throws: ``SQLiteError`` or ``StoreError``.
    init(_ folder: StateFolder, steps: [String]) throws {
        self.folder = folder
        database = try Database(path: folder.database)
        identity = FileIdentity(of: folder.database)
        let findings = try database.rows("PRAGMA quick_check(1)") { $0.text(0) }
        guard findings == ["ok"] else {
            throw SQLiteError(extendedCode: SQLiteError.Code.corrupt.rawValue, message: findings.first ?? "no answer")
        }
        try database.execute("PRAGMA secure_delete = ON")
        try Self.migrate(database, steps: steps)
        keyRing = KeyRing(deviceKey: try Self.deviceKey(folder, database))
        try prepareKeys()
    }

    /// Whether the file that is open still stands in its place.
    var isCurrent: Bool { identity == FileIdentity(of: folder.database) }

    private static func migrate(_ database: borrowing Database, steps: [String]) throws {
        guard try database.userVersion != steps.count else { return }
        try database.transaction {
            // Another process may have been faster.
            let version = try database.userVersion
            guard version <= steps.count else { throw StoreError(version: version, known: steps.count) }
            for step in steps[version...] { try database.execute(step) }
            try database.setUserVersion(steps.count)
        }
    }

    /// Reads the machine's key; a new store gets a new one.
    ///
    /// A key is never made for secrets that were sealed with another one: then there is none, and the keychain says so.
    private static func deviceKey(_ folder: StateFolder, _ database: borrowing Database) throws -> SecretBytes? {
        do throws(SystemFailure) {
            if let key = try DurableFile.read(folder.deviceKey, count: Sealing.keyLength) { return key }
        } catch {
            return nil
        }
        guard try database.number("SELECT count(*) FROM class_keys") == 0 else { return nil }
        do throws(SystemFailure) {
            let key = SecretBytes(randomCount: Sealing.keyLength)
            try DurableFile.create(folder.deviceKey, key)
            return key
        } catch {
            guard error.code == EEXIST else {
                throw StoreError(.folderUnusable, cause: "device.key could not be written: \(error.reason).")
            }
            return try? DurableFile.read(folder.deviceKey, count: Sealing.keyLength)
        }
    }

    /// Makes the class keys of a new store, and opens them where that takes no passphrase.
    private func prepareKeys() throws {
        guard keyRing.lockState != .unavailable else { return }
        if try database.number("SELECT count(*) FROM class_keys") == 0 {
            try database.transaction {
                if try database.number("SELECT count(*) FROM class_keys") == 0 { try keyRing.create(in: database) }
            }
        }
        guard try database.number("SELECT count(*) FROM class_keys WHERE salt IS NOT NULL") == 0 else { return }
        // A device key that does not fit leaves the keychain locked; configurations stay usable.
        try? keyRing.unlock(nil, in: database)
    }

    /// Counts a change, so that watchers learn of it.
    ///
    /// - Returns: A number that no earlier change of this kind has.
    @discardableResult
    func count(_ counter: StoreCounter) throws(SQLiteError) -> UInt64 {
        try database.run("UPDATE counters SET value = value + 1 WHERE name = ?", .text(counter.rawValue))
        return UInt64(clamping: try value(of: counter))
    }

    /// How often things of this kind have changed.
    func value(of counter: StoreCounter) throws(SQLiteError) -> Int64 {
        try database.number("SELECT value FROM counters WHERE name = '\(counter.rawValue)'") ?? 0
    }

    /// Now, in seconds since 1970.
    var now: Int64 { Int64(Date().timeIntervalSince1970) }
}

/// What is counted when it changes.
enum StoreCounter: String {
    case configurations
    case keychain
}
