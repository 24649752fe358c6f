extension Database {
    /// Runs one statement without results.
    ///
    /// - Returns: The number of rows that it changed.
    @discardableResult
    public func run(_ sql: String, _ values: SQLiteValue...) throws(SQLiteError) -> Int {
        try run(sql, values: values)
    }

    /// Runs one statement without results, with values whose number is known only now.
    ///
    /// - Returns: The number of rows that it changed.
    @discardableResult
    public func run(_ sql: String, values: [SQLiteValue]) throws(SQLiteError) -> Int {
        var statement = try prepare(sql)
        try statement.bind(values)
        while try statement.step() {}
        return changes
    }

    /// Collects what `read` makes of every row.
    public func rows<Row>(
        _ sql: String, _ values: SQLiteValue..., read: (borrowing Statement) throws -> Row
    ) throws -> [Row] {
        try rows(sql, values: values, read: read)
    }

    /// Collects what `read` makes of every row, with values whose number is known only now.
    public func rows<Row>(
        _ sql: String, values: [SQLiteValue], read: (borrowing Statement) throws -> Row
    ) throws -> [Row] {
        var statement = try prepare(sql)
        try statement.bind(values)
        var rows: [Row] = []
        while try statement.step() { rows.append(try read(statement)) }
        return rows
    }

    /// What `read` makes of the first row, nil when there is none.
    public func firstRow<Row>(
        _ sql: String, _ values: SQLiteValue..., read: (borrowing Statement) throws -> Row
    ) throws -> Row? {
        var statement = try prepare(sql)
        try statement.bind(values)
        guard try statement.step() else { return nil }
        return try read(statement)
    }

    /// The number in the first column of the first row, nil when there is no row or it is NULL.
    public func number(_ sql: String) throws(SQLiteError) -> Int64? {
        var statement = try prepare(sql)
        guard try statement.step() else { return nil }
        return statement.optionalInteger(0)
    }
}

extension Database {
    /// Runs `body` in one transaction: committed when it returns, rolled back when it throws.
    ///
    /// - Parameters:
    ///   - kind: When to wait for other writers; with ``TransactionKind/immediate`` a commit never fails because
    ///     somebody else wrote in between.
    ///   - body: Reads and writes on this connection.
    /// - Returns: What `body` returned.
    /// - Throws: What `body` threw, or a ``SQLiteError`` of the begin or the commit; then nothing was changed.
    public func transaction<Result>(
        _ kind: TransactionKind = .immediate, _ body: () throws -> Result
    ) throws -> Result {
        try execute("BEGIN \(kind.rawValue)")
        do {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // SQLite rolls back by itself after some errors (full disk, I/O), and then refuses a second time.
            if isInTransaction { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// The number that the application keeps in the file's header, 0 in a new file: the version of its schema.
    public var userVersion: Int {
        get throws(SQLiteError) { Int(try number("PRAGMA user_version") ?? 0) }
    }

    /// Sets ``userVersion``; inside a transaction it is committed with it.
    public func setUserVersion(_ version: Int) throws(SQLiteError) {
        try execute("PRAGMA user_version = \(version)")
    }

    /// A number that differs from the last one read when another connection has changed the file in between.
    ///
    /// Changes of this connection do not show in it.
    public var dataVersion: Int64 {
        get throws(SQLiteError) { try number("PRAGMA data_version") ?? 0 }
    }

    /// Reads the whole file and looks for contradictions.
    ///
    /// - Returns: SQLite's findings, empty for a sound file.
    public func integrityFindings() throws -> [String] {
        let findings = try rows("PRAGMA integrity_check(10)") { $0.text(0) }
        return findings == ["ok"] ? [] : findings
    }
}

/// When a transaction takes the write lock.
public enum TransactionKind: String, Sendable {
    /// At its start: what it reads cannot change under it.
    case immediate = "IMMEDIATE"
    /// Never, as long as it only reads: it sees one state of the file and waits for nobody.
    case deferred = "DEFERRED"
}
