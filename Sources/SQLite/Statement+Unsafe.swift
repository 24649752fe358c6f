internal import CSQLite

/// A compiled statement: bind values, then step through the rows.
///
/// Columns are counted from 0, and read after ``step()`` returned true, before the next call of it.
@safe
public struct Statement: ~Copyable {
    // INVARIANT: from sqlite3_prepare_v2, finalised once, in deinit; its connection stays open as long as it is there.
    private let handle: OpaquePointer
    // INVARIANT: whether the last step came to a row, which is when SQLite's column calls may be made.
    private var hasRow = false

    init(_ handle: OpaquePointer) {
        unsafe self.handle = handle
    }

    deinit { _ = unsafe sqlite3_finalize(handle) }

    /// Starts over with other values, one for each parameter, in their order.
    ///
    /// - Throws: ``SQLiteError/Code/range`` for another number of values than the statement has parameters.
    public mutating func bind(_ values: [SQLiteValue]) throws(SQLiteError) {
        reset()
        guard Int(unsafe sqlite3_bind_parameter_count(handle)) == values.count else {
            throw SQLiteError(extendedCode: SQLITE_RANGE, message: "\(values.count) values do not fit the parameters")
        }
        for (index, value) in values.enumerated() { try bind(value, at: Int32(index) + 1) }
    }

    /// Goes to the next row.
    ///
    /// - Returns: Whether there is one; after false the statement is done and can be bound again.
    public mutating func step() throws(SQLiteError) -> Bool {
        let code = unsafe sqlite3_step(handle)
        hasRow = code == SQLITE_ROW
        guard code == SQLITE_ROW || code == SQLITE_DONE else {
            let error = failure(code)
            reset()
            throw error
        }
        if !hasRow { reset() }
        return hasRow
    }

    /// Ends reading: until then a statement that has more rows keeps its snapshot of the database.
    public mutating func reset() {
        hasRow = false
        _ = unsafe sqlite3_reset(handle)
    }

    /// The number of columns of a row.
    public var columnCount: Int { Int(unsafe sqlite3_column_count(handle)) }

    /// Whether the column is NULL.
    public func isNull(_ column: Int) -> Bool { type(of: column) == SQLITE_NULL }

    /// The column as a number, 0 for NULL.
    public func integer(_ column: Int) -> Int64 { unsafe sqlite3_column_int64(handle, checked(column)) }

    /// The column as a truth value: anything but 0 and NULL.
    public func boolean(_ column: Int) -> Bool { integer(column) != 0 }

    /// The column as a floating-point number, 0 for NULL.
    public func real(_ column: Int) -> Double { unsafe sqlite3_column_double(handle, checked(column)) }

    /// The column as text, empty for NULL; bytes that are no UTF-8 are replaced.
    public func text(_ column: Int) -> String { String(decoding: bytes(column), as: UTF8.self) }

    /// The bytes of a blob or of a text, empty for NULL.
    public func bytes(_ column: Int) -> [UInt8] {
        // SAFETY: the pointer is asked for before the count, as SQLite wants, and copied before any other call.
        guard let start = unsafe sqlite3_column_blob(handle, checked(column)) else { return [] }
        let count = Int(unsafe sqlite3_column_bytes(handle, checked(column)))
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    /// The column as text, nil for NULL.
    public func optionalText(_ column: Int) -> String? { isNull(column) ? nil : text(column) }

    /// The column as bytes, nil for NULL.
    public func optionalBytes(_ column: Int) -> [UInt8]? { isNull(column) ? nil : bytes(column) }

    /// The column as a number, nil for NULL.
    public func optionalInteger(_ column: Int) -> Int64? { isNull(column) ? nil : integer(column) }

    /// The column as it is stored.
    public func value(_ column: Int) -> SQLiteValue {
        switch type(of: column) {
        case SQLITE_INTEGER: .integer(integer(column))
        case SQLITE_FLOAT: .real(real(column))
        case SQLITE_TEXT: .text(text(column))
        case SQLITE_BLOB: .blob(bytes(column))
        default: .null
        }
    }

    private func type(of column: Int) -> Int32 { unsafe sqlite3_column_type(handle, checked(column)) }

    /// SQLite leaves the result open for a column that is not there, and without a row.
    private func checked(_ column: Int) -> Int32 {
        precondition(hasRow, "a column is read without a row")
        precondition(column >= 0 && column < columnCount, "there is no column \(column)")
        return Int32(column)
    }

    private func bind(_ value: SQLiteValue, at index: Int32) throws(SQLiteError) {
        // SAFETY: SQLITE_TRANSIENT (-1) makes SQLite copy text and bytes before the call returns.
        let copies = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        let code =
            switch value {
            case .null: unsafe sqlite3_bind_null(handle, index)
            case .integer(let number): unsafe sqlite3_bind_int64(handle, index, number)
            case .real(let number): unsafe sqlite3_bind_double(handle, index, number)
            case .text(let text):
                unsafe sqlite3_bind_text64(handle, index, text, UInt64(text.utf8.count), copies, UInt8(SQLITE_UTF8))
            case .blob(let bytes) where bytes.isEmpty: unsafe sqlite3_bind_zeroblob(handle, index, 0)
            case .blob(let bytes): unsafe sqlite3_bind_blob64(handle, index, bytes, UInt64(bytes.count), copies)
            }
        guard code == SQLITE_OK else { throw failure(code) }
    }

    private func failure(_ code: Int32) -> SQLiteError {
        // SAFETY: the statement keeps its connection; the text is copied before the next call on it.
        SQLiteError(extendedCode: code, message: unsafe String(cString: sqlite3_errmsg(sqlite3_db_handle(handle))))
    }
}
