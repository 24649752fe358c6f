/// A domain name of letters, digits and hyphens, in lower case and without a final dot: it is safe in any file.
public struct DomainName: Sendable, Hashable, CustomStringConvertible {
    /// The name as text, at most 253 characters; never empty.
    public let text: String

    /// Parses a name as a person writes it: either case, a final dot allowed.
    ///
    /// - Returns: nil for anything but labels of 1 to 63 letters, digits and inner hyphens, and for a name that could be
    ///   taken for a number or an address (its last label is all digits).
    public init?(_ text: String) {
        guard text.utf8.count <= 254 else { return nil }
        var bytes = text.utf8.map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 32 : $0 }
        if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        self.init(labels: labels.map { Array($0) })
    }

    public var description: String { text }

    /// The labels of canonical bytes; nil unless every one of them is canonical.
    init?(labels: [[UInt8]]) {
        guard let last = labels.last, labels.allSatisfy(Self.isLabel), !last.allSatisfy(Self.isDigit) else {
            return nil
        }
        let bytes = Array(labels.joined(separator: [UInt8(ascii: ".")]))
        guard bytes.count <= 253 else { return nil }
        text = String(decoding: bytes, as: UTF8.self)
    }

    /// The labels, each as its bytes.
    var labels: [[UInt8]] {
        text.utf8.split(separator: UInt8(ascii: ".")).map { Array($0) }
    }

    /// Whether the name is `zone` or lies below it.
    public func isInside(_ zone: DomainName) -> Bool {
        text == zone.text || text.hasSuffix("." + zone.text)
    }

    private static func isLabel(_ label: [UInt8]) -> Bool {
        let hyphen = UInt8(ascii: "-")
        return (1...63).contains(label.count) && label.first != hyphen && label.last != hyphen
            && label.allSatisfy { $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") || isDigit($0) || $0 == hyphen }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}
