extension TAI64N {
    /// The external form of TAI64N labels: `@` and 24 hexadecimal digits.
    public var text: String {
        let digits = (String(seconds, radix: 16), String(nanoseconds, radix: 16))
        return "@" + String(repeating: "0", count: 16 - digits.0.count) + digits.0
            + String(repeating: "0", count: 8 - digits.1.count) + digits.1
    }

    /// Parses the external form; nil for anything else.
    public init?(text: some StringProtocol) {
        let digits = text.dropFirst()
        guard text.first == "@", digits.utf8.count == 24,
            digits.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let seconds = UInt64(digits.prefix(16), radix: 16), let nanoseconds = UInt32(digits.suffix(8), radix: 16),
            nanoseconds < 1_000_000_000
        else { return nil }
        self.init(seconds: seconds, nanoseconds: nanoseconds)
    }
}
