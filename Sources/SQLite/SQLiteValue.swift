/// A value as SQLite stores it.
public enum SQLiteValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    /// The text, or NULL for nil.
    public static func optional(_ text: String?) -> SQLiteValue { text.map { .text($0) } ?? .null }

    /// The bytes, or NULL for nil.
    public static func optional(_ bytes: [UInt8]?) -> SQLiteValue { bytes.map { .blob($0) } ?? .null }

    /// The number, or NULL for nil.
    public static func optional(_ number: Int64?) -> SQLiteValue { number.map { .integer($0) } ?? .null }

    /// 1 or 0.
    public static func boolean(_ value: Bool) -> SQLiteValue { .integer(value ? 1 : 0) }
}

extension SQLiteValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral {
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(stringLiteral value: String) { self = .text(value) }
    public init(nilLiteral: ()) { self = .null }
}
