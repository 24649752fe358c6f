internal import CSQLite
internal import Glibc

/// A connection to one SQLite database file: write-ahead log, synchronous FULL, foreign keys on.
///
/// A commit that returned is on the disk. Other connections and processes may use the same file; a write waits for theirs.
/// A connection belongs to one thread at a time: keep it in a `Mutex` or an actor.
@safe
public struct Database: ~Copyable {
    // INVARIANT: from sqlite3_open_v2, closed once, in deinit. sqlite3_close_v2 waits for statements that are left.
    private let handle: OpaquePointer

    /// Opens `path`, which must not be a symbolic link itself; its folder may be reached through links.
    ///
    /// - Parameters:
    ///   - path: The file; the log files `-wal` and `-shm` stand beside it with the same owner and permissions.
    ///   - options: Access and waiting time.
    /// - Throws: ``SQLiteError``; ``SQLiteError/isDamage`` tells a file that is no sound database.
    public init(path: String, options: DatabaseOptions = DatabaseOptions()) throws(SQLiteError) {
        let file = try Self.resolvingFolder(of: path)
        if case .create(let permissions) = options.access { try Self.create(file, permissions: permissions) }
        unsafe handle = try Self.connect(to: file, options)
    }

    deinit { _ = unsafe sqlite3_close_v2(handle) }

    /// Runs statements without values and without results, separated by semicolons.
    public func execute(_ sql: String) throws(SQLiteError) {
        try unsafe Self.execute(sql, on: handle)
    }

    /// Compiles one statement; it may outlive this value, and then keeps the file open.
    public func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        var compiled: OpaquePointer?
        // SAFETY: -1 says that the text, a copy for the length of the call, ends at its NUL.
        let code = unsafe sqlite3_prepare_v2(handle, sql, -1, &compiled, nil)
        guard code == SQLITE_OK else { throw unsafe Self.failure(code, of: handle) }
        guard let compiled = unsafe compiled else {
            throw SQLiteError(extendedCode: SQLITE_ERROR, message: "the text holds no statement")
        }
        return unsafe Statement(compiled)
    }

    /// The number of rows that the last INSERT, UPDATE or DELETE changed.
    public var changes: Int { Int(unsafe sqlite3_changes64(handle)) }

    /// The identifier of the row that the last INSERT made.
    public var lastInsertedRow: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

    /// Whether a transaction is open.
    public var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

    private static func connect(to path: String, _ options: DatabaseOptions) throws(SQLiteError) -> OpaquePointer {
        let mode = options.access == .readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
        var opened: OpaquePointer?
        let flags = mode | SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
        // SAFETY: the path is a NUL-ended copy for the length of the call.
        let code = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        guard let opened = unsafe opened else { throw SQLiteError(extendedCode: code, message: text(of: code)) }
        do throws(SQLiteError) {
            guard code == SQLITE_OK else { throw unsafe failure(code, of: opened) }
            _ = unsafe sqlite3_busy_timeout(opened, options.busyTimeoutMilliseconds)
            if options.access != .readOnly { try unsafe execute("PRAGMA journal_mode = WAL", on: opened) }
            try unsafe execute(
                "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF", on: opened)
            return unsafe opened
        } catch {
            // A failed open leaves a handle too.
            _ = unsafe sqlite3_close_v2(opened)
            throw error
        }
    }

    private static func execute(_ sql: String, on handle: OpaquePointer) throws(SQLiteError) {
        // SAFETY: the text is a NUL-ended copy for the length of the call; no callback is given.
        let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw unsafe failure(code, of: handle) }
    }

    private static func failure(_ code: Int32, of handle: OpaquePointer) -> SQLiteError {
        // SAFETY: the text is copied before the next call on this connection.
        SQLiteError(extendedCode: code, message: unsafe String(cString: sqlite3_errmsg(handle)))
    }

    private static func text(of code: Int32) -> String { unsafe String(cString: sqlite3_errstr(code)) }

    /// Creates the file with its permissions where it is missing: SQLite itself would take those of the umask.
    ///
    /// An existing file is not opened here, because closing it would drop the locks that this process has on it.
    private static func create(_ path: String, permissions: UInt32) throws(SQLiteError) {
        // SAFETY: the path is a NUL-ended copy for the length of each call.
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode_t(permissions))
        guard descriptor >= 0 else {
            guard errno != EEXIST else { return }
            let reason = unsafe String(cString: strerror(errno))
            throw SQLiteError(extendedCode: SQLITE_CANTOPEN, message: "\(path): \(reason)")
        }
        // Past the umask, and on the disk together with its name before anything is stored in it.
        let isWhole = fchmod(descriptor, mode_t(permissions)) == 0 && fsync(descriptor) == 0
        close(descriptor)
        guard isWhole, syncFolder(of: path) else {
            throw SQLiteError(extendedCode: SQLITE_IOERR, message: "\(path): the new file could not be made durable")
        }
    }

    private static func syncFolder(of path: String) -> Bool {
        let descriptor = unsafe open(split(path).folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }

    /// SQLITE_OPEN_NOFOLLOW refuses links in every part of the path; ours is to refuse them in the last one only.
    private static func resolvingFolder(of path: String) throws(SQLiteError) -> String {
        let (folder, name) = split(path)
        // SAFETY: the result is a NUL-ended text of realpath's own, freed after it is copied.
        guard let resolved = unsafe realpath(folder, nil) else {
            throw SQLiteError(
                extendedCode: SQLITE_CANTOPEN, message: "\(folder): \(unsafe String(cString: strerror(errno)))")
        }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved) + "/" + name
    }

    private static func split(_ path: String) -> (folder: String, name: String) {
        guard let end = path.lastIndex(of: "/") else { return (".", path) }
        return (end == path.startIndex ? "/" : String(path[..<end]), String(path[path.index(after: end)...]))
    }
}
