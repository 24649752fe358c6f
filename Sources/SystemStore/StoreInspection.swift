internal import Foundation
private import Glibc
public import ProviderKit
internal import SQLite

/// What a look at the store finds; nothing is made, migrated, set aside or opened with a key.
public struct StoreInspection: Sendable, Equatable {
    /// What the store is like.
    public enum Condition: Sendable, Equatable {
        /// There is none yet: the first start of the manager makes it.
        case missing
        /// It belongs to this user, and nobody else may look into it.
        case foreign(owner: UInt32)
        /// It can be used, at once or after it was migrated.
        case sound(version: Int)
        /// The manager could not use it.
        case unusable(StoreError)
    }

    /// What the store is like.
    public let condition: Condition
    /// Whether its secrets cannot be opened, because the key of the machine is gone.
    public let isKeyMissing: Bool
    /// Damaged stores that were set aside, by path, the latest one last.
    public let setAside: [String]
    /// When a file of the folder was last written, in seconds since 1970; nil where there is none.
    public let lastWritten: Int64?

    /// A store as a test makes it up.
    package init(_ condition: Condition, isKeyMissing: Bool = false, setAside: [String] = [], lastWritten: Int64? = nil)
    {
        self.condition = condition
        self.isKeyMissing = isKeyMissing
        self.setAside = setAside
        self.lastWritten = lastWritten
    }

    /// Looks at the store of a folder.
    public init(_ folder: StateFolder) {
        let files = Self.files(in: folder)
        setAside = files.map(\.path).filter {
            $0.contains(".damaged-") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm")
        }
        .sorted()
        lastWritten = files.map(\.written).max()
        (condition, isKeyMissing) = Self.look(folder)
    }

    private static func look(_ folder: StateFolder) -> (Condition, Bool) {
        let status: FolderStatus
        do throws(SystemFailure) {
            status = try FolderStatus(of: folder.path)
        } catch {
            return (error.code == ENOENT ? .missing : .unusable(unusable(folder.path, error.reason)), false)
        }
        if geteuid() != 0, !status.isOwnedByUs { return (.foreign(owner: status.owner), false) }
        do {
            try folder.check(status)
            guard FileManager.default.fileExists(atPath: folder.database) else { return (.missing, false) }
            let database = try Database(path: folder.database, options: DatabaseOptions(access: .readOnly))
            let findings = try database.rows("PRAGMA quick_check(1)") { $0.text(0) }
            guard findings == ["ok"] else { return (.unusable(damaged(folder, findings.first ?? "no answer")), false) }
            let version = try database.userVersion
            guard version <= StoreSchema.steps.count else {
                return (.unusable(StoreError(version: version, known: StoreSchema.steps.count)), false)
            }
            let hasSecrets = try version > 0 && database.number("SELECT count(*) FROM class_keys") != 0
            return (.sound(version: version), hasSecrets && !FileManager.default.fileExists(atPath: folder.deviceKey))
        } catch let error as StoreError {
            return (.unusable(error), false)
        } catch let error as SQLiteError {
            return (
                .unusable(error.isDamage ? damaged(folder, "\(error)") : unusable(folder.database, "\(error)")), false
            )
        } catch {
            return (.unusable(unusable(folder.database, "\(error)")), false)
        }
    }

    private static func damaged(_ folder: StateFolder, _ finding: String) -> StoreError {
        StoreError(.damaged, cause: "The store \(folder.database) is damaged: \(finding).")
    }

    private static func unusable(_ path: String, _ reason: String) -> StoreError {
        StoreError(.unreadable, cause: "\(path) cannot be read: \(reason).")
    }

    /// The files of the folder and of those of providers.
    private static func files(in folder: StateFolder) -> [(path: String, written: Int64)] {
        let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return names.compactMap { name in
            let path = folder.path + "/" + name
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            guard attributes?[.type] as? FileAttributeType == .typeRegular,
                let date = attributes?[.modificationDate] as? Date
            else { return nil }
            return (path, Int64(date.timeIntervalSince1970))
        }
    }
}

extension StoreError {
    /// The refusal of a store that a later version made.
    init(version: Int, known: Int) {
        self.init(
            .newerVersion, cause: "The store has version \(version); this program knows those up to \(known).")
    }
}
