/// The first thing that is wrong with a wg-quick file.
public struct ConfigurationError: Error, Sendable, Hashable {
    /// The line of the file, from 1.
    public let line: Int
    /// What is wrong with it.
    public let reason: Reason

    /// Makes the error of a line.
    public init(line: Int, reason: Reason) {
        self.line = line
        self.reason = reason
    }

    /// What can be wrong; texts are the file's own, shortened, printable, and never a key.
    public enum Reason: Sendable, Hashable {
        /// The file has more than `Configuration.maximumByteCount` bytes.
        case fileTooLarge(byteCount: Int)
        /// The line has more than `Configuration.maximumLineByteCount` bytes.
        case lineTooLong
        /// The line holds bytes that are not UTF-8, or control characters.
        case notText
        /// The brackets name no section that exists.
        case unknownSection(String)
        /// A second `[Interface]` section.
        case repeatedInterface(firstLine: Int)
        /// The line is neither a section nor `key = value`.
        case notAnAssignment(String)
        /// A key stands before the first section.
        case outsideSection(ConfigurationKey)
        /// No section has such a key.
        case unknownKey(String, section: ConfigurationSection?)
        /// The key belongs in the other section.
        case wrongSection(ConfigurationKey)
        /// The key needs a value and has none.
        case missingValue(ConfigurationKey)
        /// The value, or an item of its list, is wrong.
        case invalidValue(ConfigurationKey, text: String)
        /// The value of a key that holds a key is wrong; its text is never kept.
        case invalidKey(ConfigurationKey)
        /// The value of a comment that means something is wrong.
        case invalidComment(CommentKey, text: String)
        /// `+` or `-` before an allowed IP: a change to a running tunnel, not a state.
        case incrementalAllowedIP(String)
        /// The file has no `[Interface]` section.
        case missingInterface
        /// The `[Interface]` section has no private key.
        case missingPrivateKey
        /// The `[Peer]` section has no public key.
        case missingPublicKey
    }
}

extension ConfigurationError: CustomStringConvertible {
    public var description: String { "line \(line): \(message); expected \(expectation)" }

    /// The error as compilers print theirs: `file:line: message; expected …`.
    public func description(file: String) -> String { "\(file):\(line): \(message); expected \(expectation)" }

    /// What is wrong, in one clause.
    public var message: String {
        switch reason {
        case .fileTooLarge(let byteCount): "the file has \(byteCount) bytes"
        case .lineTooLong: "the line is too long"
        case .notText: "the line holds bytes that are not text"
        case .unknownSection(let text): "there is no section \(text)"
        case .repeatedInterface(let firstLine): "a second [Interface] section, the first is in line \(firstLine)"
        case .notAnAssignment(let text): "'\(text)' is not an assignment"
        case .outsideSection(let key): "\(key.rawValue) stands before the first section"
        case .unknownKey(let text, nil): "there is no key '\(text)'"
        case .unknownKey(let text, let section?): "there is no key '\(text)' in [\(section.rawValue)]"
        case .wrongSection(let key): "\(key.rawValue) stands in the wrong section"
        case .missingValue(let key): "\(key.rawValue) has no value"
        case .invalidValue(let key, let text): "\(key.rawValue) cannot be '\(text)'"
        case .invalidKey(let key): "the value of \(key.rawValue) is not a key"
        case .invalidComment(let key, let text): "# \(key.rawValue) cannot be '\(text)'"
        case .incrementalAllowedIP(let text): "AllowedIPs '\(text)' changes a running tunnel"
        case .missingInterface: "there is no [Interface] section"
        case .missingPrivateKey: "the [Interface] section has no PrivateKey"
        case .missingPublicKey: "the [Peer] section has no PublicKey"
        }
    }

    /// What should stand there instead.
    public var expectation: String {
        switch reason {
        case .fileTooLarge: "at most \(Configuration.maximumByteCount)"
        case .lineTooLong: "at most \(Configuration.maximumLineByteCount) bytes; repeat the key to split a list"
        case .notText: "UTF-8 without control characters"
        case .unknownSection: "[Interface] or [Peer]"
        case .repeatedInterface: "one"
        case .notAnAssignment: "[Interface], [Peer] or 'key = value'"
        case .outsideSection(let key), .wrongSection(let key): "it in [\(key.section.rawValue)]"
        case .unknownKey(_, nil): "[Interface] or [Peer] first"
        case .unknownKey(_, let section?):
            "one of "
                + ConfigurationKey.allCases.filter { $0.section == section }.map(\.rawValue).joined(separator: ", ")
        case .missingValue(let key), .invalidValue(let key, _), .invalidKey(let key): key.expectation
        case .invalidComment(let key, _): key.expectation
        case .incrementalAllowedIP: "the whole list, without + or -"
        case .missingInterface: "one, with a PrivateKey"
        case .missingPrivateKey, .missingPublicKey: "one"
        }
    }
}
