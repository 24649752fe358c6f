/// The bytes of hex text in which `;` starts a comment that runs to the end of the line.
func hex(_ text: String) -> [UInt8] {
    let digits = text.split(whereSeparator: \.isNewline)
        .flatMap { $0.prefix { $0 != ";" } }
        .filter { !$0.isWhitespace }
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16) ?? 0 }
}

/// Hex text of 16 bytes to a line, for readable failures.
func dump(_ bytes: [UInt8]) -> [String] {
    stride(from: 0, to: bytes.count, by: 4).map { start in
        bytes[start..<min(start + 4, bytes.count)].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
