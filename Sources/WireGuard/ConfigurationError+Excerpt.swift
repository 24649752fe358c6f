extension ConfigurationError {
    /// The most bytes of the file that an error shows.
    private static let maximumExcerpt = 64
    /// The longest run of base64 characters that is no part of a key: a little more than the longest key name.
    private static let longestPlainRun = 20

    /// A piece of the file as an error may show it: shortened, printable, and with `a key` where a key could be.
    static func excerpt(_ bytes: Span<UInt8>) -> String {
        var shown: [UInt8] = []
        var offset = 0
        while offset < bytes.count, shown.count < maximumExcerpt {
            let start = offset
            while offset < bytes.count, isBase64(bytes[offset]) { offset += 1 }
            if offset - start > longestPlainRun {
                shown += "a key".utf8
            } else if offset > start {
                for index in start..<offset { shown.append(bytes[index]) }
            } else {
                // Control characters could steer the terminal, and a cut in a character is no text.
                shown.append(bytes[offset] >= 32 && bytes[offset] < 127 ? bytes[offset] : UInt8(ascii: "?"))
                offset += 1
            }
        }
        return String(decoding: shown, as: UTF8.self) + (offset < bytes.count ? "..." : "")
    }

    /// The excerpt of the first word: where a name is expected, what follows may be a secret with a typing error in it.
    static func excerpt(firstWordOf bytes: Span<UInt8>) -> String {
        var end = 0
        while end < bytes.count, !Span<UInt8>.isSpace(bytes[end]) { end += 1 }
        return excerpt(bytes.extracting(0..<end))
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
            true
        default: false
        }
    }
}
