/// What SQLite refused, with its own code: the extended one, whose low byte is the primary one.
///
/// The message is SQLite's and names tables and columns only: values are always bound and never part of it.
public struct SQLiteError: Error, Hashable, Sendable {
    /// The extended result code, such as 2067 for a UNIQUE constraint.
    public let extendedCode: Int32
    /// SQLite's own words.
    public let message: String

    /// Makes an error from a result code and its text.
    public init(extendedCode: Int32, message: String) {
        self.extendedCode = extendedCode
        self.message = message
    }

    /// The kind of failure.
    public var code: Code { Code(rawValue: extendedCode & 0xFF) }

    /// A primary result code; any value may come from a later SQLite.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int32

        /// Wraps a primary result code.
        public init(rawValue: Int32) {
            self.rawValue = rawValue
        }

        /// Another connection held the lock for longer than the busy timeout.
        public static let busy = Code(rawValue: 5)
        /// The file, its folder or the connection may not be written.
        public static let readOnly = Code(rawValue: 8)
        /// The system failed a read, write or sync.
        public static let inputOutput = Code(rawValue: 10)
        /// The content contradicts itself.
        public static let corrupt = Code(rawValue: 11)
        /// The disk is full.
        public static let full = Code(rawValue: 13)
        /// The file could not be opened.
        public static let cannotOpen = Code(rawValue: 14)
        /// A UNIQUE, NOT NULL, CHECK or FOREIGN KEY constraint failed.
        public static let constraint = Code(rawValue: 19)
        /// The number of bound values is not the number of parameters.
        public static let range = Code(rawValue: 25)
        /// The file is no SQLite database.
        public static let notADatabase = Code(rawValue: 26)
    }

    /// Whether the file itself is damaged, so that trying again cannot help.
    public var isDamage: Bool { code == .corrupt || code == .notADatabase }

    /// Whether a UNIQUE or PRIMARY KEY constraint failed (SQLITE_CONSTRAINT_UNIQUE and _PRIMARYKEY).
    public var isDuplicate: Bool { extendedCode == 2067 || extendedCode == 1555 }
}

extension SQLiteError: CustomStringConvertible {
    /// The text with the code behind it.
    public var description: String { "\(message) (SQLite \(extendedCode))" }
}
