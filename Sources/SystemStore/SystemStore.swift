internal import Foundation
public import ProviderKit
internal import SQLite
internal import Synchronization

/// The store that the manager owns: configurations, keychain, trust anchors, in one database with one transaction each.
///
/// A transaction that returned is on the disk. A damaged file is set aside under another name, and an empty store takes its
/// place; sessions that run do not need it.
public final class SystemStore: Sendable {
    /// The folder of the store.
    public let folder: StateFolder
    private let steps: [String]
    private let report: @Sendable (StoreError) -> Void
    private let state: Mutex<State>

    private struct State {
        var session: StoreSession
        var snapshot: StoreSnapshot
        var watchers: [UInt64: @Sendable (StoreChange) -> Void] = [:]
        var nextWatcher: UInt64 = 0
    }

    /// Opens the store, and makes it where it is missing.
    ///
    /// - Parameters:
    ///   - folder: The folder, made where it is missing.
    ///   - report: Called with what the log must say: a damaged file was set aside.
    /// - Throws: ``StoreError``.
    public convenience init(
        folder: StateFolder, report: @escaping @Sendable (StoreError) -> Void = { _ in }
    ) throws(StoreError) {
        try self.init(folder: folder, steps: StoreSchema.steps, report: report)
    }

    init(
        folder: StateFolder, steps: [String], report: @escaping @Sendable (StoreError) -> Void
    ) throws(StoreError) {
        self.folder = folder
        self.steps = steps
        self.report = report
        try folder.prepare()
        let session = try Self.open(folder, steps, report)
        do {
            let snapshot = try session.snapshot(after: StoreSnapshot())
            state = Mutex(State(session: session, snapshot: snapshot))
        } catch {
            throw Self.unreadable(folder, error)
        }
    }

    /// Runs `body` in one transaction: all that it did is on the disk when this returns, or nothing when it throws.
    ///
    /// Watchers learn of the changes before this returns. The session must not be kept, nor the store be used, in `body`.
    ///
    /// - Throws: What `body` threw; ``VPNError``, code configurationReadWriteFailed, where the database failed.
    public func perform<Value: Sendable>(_ body: (StoreSession) throws -> Value) throws -> Value {
        try run(body, .immediate) { VPNError($0) }
    }

    /// Runs `body`, which only reads, without waiting for a writer.
    ///
    /// - Throws: as ``perform(_:)`` does.
    public func read<Value: Sendable>(_ body: (StoreSession) throws -> Value) throws -> Value {
        try run(body, .deferred) { VPNError($0) }
    }

    /// Does what ``perform(_:)`` does for requests about keychain items alone, whose errors have the keychain's statuses.
    public func performOnKeychain<Value: Sendable>(_ body: (StoreSession) throws -> Value) throws -> Value {
        try run(body, .immediate) { KeychainError($0) }
    }

    private func run<Value: Sendable>(
        _ body: (StoreSession) throws -> Value, _ kind: TransactionKind,
        translate: (SQLiteError) -> any Error
    ) throws -> Value {
        let (result, tell) = state.withLock { state in
            let result: Result<Value, any Error>
            if !state.session.isCurrent { reopen(&state, Self.moved) }
            do {
                let session = state.session
                result = .success(try session.database.transaction(kind) { try body(session) })
            } catch let error as SQLiteError {
                if error.isDamage { reopen(&state, error) }
                result = .failure(translate(error))
            } catch {
                result = .failure(error)
            }
            return (result, Self.changes(&state))
        }
        tell()
        return try result.get()
    }

    /// Calls `watcher` after each change, by whom ever it was made, until it is taken away with ``removeWatcher(_:)``.
    ///
    /// It is called on the thread that made the change, or that called ``noticeForeignChanges()``.
    public func addWatcher(_ watcher: @escaping @Sendable (StoreChange) -> Void) -> UInt64 {
        state.withLock { state in
            state.nextWatcher += 1
            state.watchers[state.nextWatcher] = watcher
            return state.nextWatcher
        }
    }

    /// Ends what ``addWatcher(_:)`` began.
    public func removeWatcher(_ identifier: UInt64) {
        state.withLock { state in _ = state.watchers.removeValue(forKey: identifier) }
    }

    /// Looks whether another process has changed the store, and tells the watchers.
    public func noticeForeignChanges() {
        let tell = state.withLock { Self.changes(&$0) }
        tell()
    }

    /// What there is to tell since it was last told; a store that cannot be read tells at the next call.
    private static func changes(_ state: inout State) -> @Sendable () -> Void {
        guard let snapshot = try? state.session.snapshot(after: state.snapshot) else { return {} }
        let change = snapshot.changes(since: state.snapshot)
        state.snapshot = snapshot
        guard !change.isEmpty else { return {} }
        let watchers = Array(state.watchers.values)
        return { for watcher in watchers { watcher(change) } }
    }

    /// SQLite does not notice that another process has set the file aside, and would go on writing into it.
    private static let moved = SQLiteError(extendedCode: 1032, message: "the file was renamed")

    /// Opens the store again that another process has replaced, or replaces one that turned out to be damaged.
    private func reopen(_ state: inout State, _ error: SQLiteError) {
        do throws(StoreError) {
            state.session = try Self.replaceDamaged(folder, steps, error, report)
        } catch {
            report(error)
        }
    }

    private static func open(
        _ folder: StateFolder, _ steps: [String], _ report: (StoreError) -> Void
    ) throws(StoreError) -> StoreSession {
        do {
            return try DurableFile.withLock(folder.lock) { try StoreSession(folder, steps: steps) }
        } catch let error as SQLiteError where error.isDamage {
            return try replaceDamaged(folder, steps, error, report)
        } catch {
            throw unreadable(folder, error)
        }
    }

    private static func replaceDamaged(
        _ folder: StateFolder, _ steps: [String], _ damage: SQLiteError, _ report: (StoreError) -> Void
    ) throws(StoreError) -> StoreSession {
        do {
            return try DurableFile.withLock(folder.lock) {
                do {
                    // Another process may have replaced it in the meantime.
                    return try StoreSession(folder, steps: steps)
                } catch let error as SQLiteError where error.isDamage {
                    let name = try folder.setAsideDatabase()
                    report(
                        StoreError(
                            .damaged, cause: "The store was damaged (\(damage)) and is now \(name).",
                            remedy: "Restore a copy as \(folder.database), or save the configurations again."))
                    return try StoreSession(folder, steps: steps)
                }
            }
        } catch {
            throw unreadable(folder, error)
        }
    }

    private static func unreadable(_ folder: StateFolder, _ error: any Error) -> StoreError {
        switch error {
        case let error as StoreError: error
        case let error as SQLiteError:
            StoreError(
                .unreadable, cause: "The store \(folder.database) cannot be opened: \(error).", remedy: error.advice)
        case let error as SystemFailure:
            StoreError(.unreadable, cause: "The store \(folder.database) cannot be opened: \(error.reason).")
        default: StoreError(.unreadable, cause: "The store \(folder.database) cannot be opened: \(error)")
        }
    }
}

extension StateFolder {
    /// Gives the database another name, with the time, and returns it.
    fileprivate func setAsideDatabase() throws -> String {
        let style = Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted)
        var target = "\(database).damaged-\(Date().formatted(style))"
        while FileManager.default.fileExists(atPath: target) { target += "-" }
        // The log first: a log that is left beside a new database would be replayed into it.
        for suffix in ["-wal", "-shm", ""] { try DurableFile.rename(database + suffix, to: target + suffix) }
        try DurableFile.syncFolder(of: database)
        return target
    }
}
