/// A decimal number in text: digits only, at most ten, not above a maximum.
struct DecimalField {
    let value: UInt32

    init?(_ text: Span<UInt8>, maximum: UInt32) {
        guard !text.isEmpty, text.count <= 10 else { return nil }
        var sum: UInt64 = 0
        for index in text.indices {
            guard text[index] >= 48, text[index] <= 57 else { return nil }
            sum = sum * 10 + UInt64(text[index] - 48)
        }
        guard sum <= UInt64(maximum) else { return nil }
        value = UInt32(sum)
    }

    init?(_ text: some StringProtocol, maximum: UInt32) {
        let text = String(text)
        self.init(text.utf8Span.span, maximum: maximum)
    }
}

extension IPAddress: CustomStringConvertible {
    /// Parses a numeric address: `192.0.2.1`, `2001:db8::1`, `::ffff:192.0.2.1`; no name, zone or bracket.
    ///
    /// Nothing is allocated: a configuration may hold hundreds of thousands of them.
    public init?(_ text: Span<UInt8>) {
        guard text.count <= 45 else { return nil }
        if text.firstOffset(of: UInt8(ascii: ":")) != nil {
            guard let value = Self.parseV6(text) else { return nil }
            self = .v6(value)
        } else {
            guard let value = Self.parseV4(text) else { return nil }
            self = .v4(value)
        }
    }

    /// Parses a numeric address that is at hand as text.
    public init?(_ text: some StringProtocol) {
        let text = String(text)
        self.init(text.utf8Span.span)
    }

    /// The canonical text (RFC 5952 for IPv6).
    public var description: String {
        switch self {
        case .v4(let value): Self.dotted(value)
        case .v6(let value): Self.describeV6(value)
        }
    }

    private static func dotted(_ value: UInt32) -> String {
        "\(value >> 24).\(value >> 16 & 255).\(value >> 8 & 255).\(value & 255)"
    }

    private static func parseV4(_ text: Span<UInt8>) -> UInt32? {
        var (value, field): (UInt32, UInt32) = (0, 0)
        var (fields, digits) = (1, 0)
        for index in text.indices {
            let byte = text[index]
            if byte == UInt8(ascii: ".") {
                guard digits > 0, fields < 4 else { return nil }
                (value, field) = (value << 8 | field, 0)
                (fields, digits) = (fields + 1, 0)
            } else {
                // A leading zero is octal to some readers and decimal to others: refused, as inet_pton does.
                guard byte >= 48, byte <= 57, digits == 0 || field > 0 else { return nil }
                (field, digits) = (field * 10 + UInt32(byte - 48), digits + 1)
                guard field <= 255 else { return nil }
            }
        }
        return fields == 4 && digits > 0 ? value << 8 | field : nil
    }

    private static func parseV6(_ text: Span<UInt8>) -> UInt128? {
        let colon = UInt8(ascii: ":")
        var value: UInt128 = 0
        var groups = 0
        /// The number of groups before `::`.
        var gap: Int?
        var index = 0
        if text[0] == colon {
            guard text.count > 1, text[1] == colon else { return nil }
            (gap, index) = (0, 2)
        }
        while index < text.count {
            let start = index
            var group: UInt128 = 0
            while index < text.count, let digit = hexDigit(text[index]) {
                group = group << 4 | digit
                index += 1
            }
            if index < text.count, text[index] == UInt8(ascii: ".") {
                guard groups <= 6, let v4 = parseV4(text.extracting(start..<text.count)) else { return nil }
                (value, groups, index) = (value << 32 | UInt128(v4), groups + 2, text.count)
                break
            }
            guard (1...4).contains(index - start), groups < 8 else { return nil }
            (value, groups) = (value << 16 | group, groups + 1)
            guard index < text.count else { break }
            // Behind a group stand one colon and another group, or two and perhaps nothing.
            guard text[index] == colon, index + 1 < text.count else { return nil }
            index += 1
            if text[index] == colon {
                guard gap == nil else { return nil }
                (gap, index) = (groups, index + 1)
            }
        }
        guard let gap else { return groups == 8 ? value : nil }
        guard groups <= 7 else { return nil }
        let tail = 16 * (groups - gap)
        return (value >> tail) << (16 * (8 - gap)) | value & ~(UInt128.max << tail)
    }

    private static func hexDigit(_ byte: UInt8) -> UInt128? {
        switch byte {
        case 48...57: UInt128(byte - 48)
        case 65...70: UInt128(byte - 55)
        case 97...102: UInt128(byte - 87)
        default: nil
        }
    }

    private static func describeV6(_ value: UInt128) -> String {
        if value >> 32 == 0xffff {
            return "::ffff:" + dotted(UInt32(truncatingIfNeeded: value))
        }
        let groups = (0..<8).map { UInt16(truncatingIfNeeded: value >> UInt128(112 - 16 * $0)) }
        // RFC 5952 section 4.2: the first longest run of at least two zero groups is shortened.
        var best = 0..<0
        var start = 0
        while start < 8 {
            var end = start
            while end < 8, groups[end] == 0 { end += 1 }
            if end - start >= 2, end - start > best.count { best = start..<end }
            start = max(end, start + 1)
        }
        func text(_ part: ArraySlice<UInt16>) -> String {
            part.map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard !best.isEmpty else { return text(groups[...]) }
        return text(groups[..<best.lowerBound]) + "::" + text(groups[best.upperBound...])
    }
}
