/// A name as DNS carries it, in lower case: names are compared without regard to case (RFC 4343).
public struct DNSName: Sendable, Hashable {
    /// The longest name on the wire, with the length of each label and the final zero (RFC 1035 section 2.3.4).
    static let sizeLimit = 255

    /// The labels, each behind its length, and a zero.
    public let bytes: [UInt8]

    /// Reads a name as a person writes it; nil for one that DNS cannot carry: labels of 1 to 63 bytes, 255 on the wire.
    ///
    /// - Parameter text: The name, with or without a final dot.
    public init?(_ text: String) {
        let name = text.hasSuffix(".") ? text.dropLast() : text[...]
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.allSatisfy({ (1...63).contains($0.count) }) else { return nil }
        let bytes: [UInt8] = labels.flatMap { [UInt8($0.count)] + Array($0) } + [0]
        guard bytes.count <= Self.sizeLimit else { return nil }
        self.init(wire: bytes)
    }

    /// Takes a name from a message.
    ///
    /// - Parameter bytes: Labels and the final zero, whose lengths were checked.
    init(wire bytes: [UInt8]) {
        // The length of a label is below every letter.
        self.bytes = bytes.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
    }
}
