/// A DNS name in one spelling: lower case, without the dot at its end (RFC 1123 section 2.1).
///
/// Letters, digits, hyphens and underscores only, so that a name can be written into a file or a terminal as it is.
public struct DomainName: Hashable, Sendable, CustomStringConvertible {
    /// The name; empty for the root, under which all names are.
    public let description: String

    /// The root domain.
    static let root = DomainName(unchecked: "")

    /// Parses a name; nil for anything else, also for an empty text.
    public init?(_ text: String) {
        let name = text.hasSuffix(".") ? text.dropLast() : text[...]
        guard (1...253).contains(name.utf8.count) else { return nil }
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.allSatisfy({ Self.isLabel($0) }) else { return nil }
        self.init(unchecked: name.lowercased())
    }

    private init(unchecked text: String) { description = text }

    private static func isLabel(_ label: Substring.UTF8View) -> Bool {
        let hyphen = UInt8(ascii: "-")
        return (1...63).contains(label.count) && label.first != hyphen && label.last != hyphen
            && label.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), hyphen, UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
