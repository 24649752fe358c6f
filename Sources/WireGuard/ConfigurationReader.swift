/// Lends the lines of a wg-quick file one after the other; none outlives the bytes of the file.
struct ConfigurationReader: ~Copyable, ~Escapable {
    private let bytes: Span<UInt8>
    private var position = 0
    /// The number of the last line that was lent, from 1; 0 before the first.
    private(set) var line = 0

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>) {
        self.bytes = bytes
        // Editors on Windows put a byte order mark before the text.
        if bytes.count >= 3, bytes[0] == 0xef, bytes[1] == 0xbb, bytes[2] == 0xbf { position = 3 }
    }

    /// The next line without its end and the white space around it, nil at the end of the file.
    @_lifetime(copy self)
    mutating func nextLine() throws(ConfigurationError) -> Span<UInt8>? {
        guard position < bytes.count else { return nil }
        let rest = bytes.extracting(position..<bytes.count)
        let length = rest.firstOffset(of: UInt8(ascii: "\n")) ?? rest.count
        line += 1
        guard length <= Configuration.maximumLineByteCount else {
            throw ConfigurationError(line: line, reason: .lineTooLong)
        }
        position += length + 1
        return rest.extracting(0..<length).trimmed
    }
}

/// What the parser asks of a piece of the file.
extension Span<UInt8> {
    /// The offset of the first `byte`.
    func firstOffset(of byte: UInt8) -> Int? {
        for offset in indices where self[offset] == byte {
            return offset
        }
        return nil
    }

    /// The piece without the ASCII white space at both ends.
    var trimmed: Span<UInt8> {
        @_lifetime(copy self)
        get {
            var start = 0
            var end = count
            while start < end, Self.isSpace(self[start]) { start += 1 }
            while end > start, Self.isSpace(self[end - 1]) { end -= 1 }
            return extracting(start..<end)
        }
    }

    /// Whether the piece spells `name`, in either case of ASCII letters.
    func spells(_ name: String) -> Bool {
        let expected = name.utf8
        guard expected.count == count else { return false }
        var offset = 0
        for byte in expected {
            guard Self.lowercase(self[offset]) == Self.lowercase(byte) else { return false }
            offset += 1
        }
        return true
    }

    /// The piece as text, nil if it is not UTF-8 or holds a control character other than a tab.
    var text: String? {
        for offset in indices where self[offset] < 32 && self[offset] != 9 || self[offset] == 127 {
            return nil
        }
        guard let utf8 = try? UTF8Span(validating: self) else { return nil }
        return String(copying: utf8)
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte >= 9 && byte <= 13 }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 32 : byte
    }
}
