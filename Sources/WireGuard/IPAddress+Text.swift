/// A decimal number in text: digits only, at most ten, not above a maximum.
struct DecimalField {
    let value: UInt32

    init?(_ text: some StringProtocol, maximum: UInt32) {
        let digits = Array(text.utf8)
        guard !digits.isEmpty, digits.count <= 10 else { return nil }
        var sum: UInt64 = 0
        for digit in digits {
            guard digit >= 48, digit <= 57 else { return nil }
            sum = sum * 10 + UInt64(digit - 48)
        }
        guard sum <= UInt64(maximum) else { return nil }
        value = UInt32(sum)
    }
}

extension IPAddress: CustomStringConvertible {
    /// Parses a numeric address: `192.0.2.1`, `2001:db8::1`, `::ffff:192.0.2.1`; no name, zone or bracket.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count <= 45 else { return nil }
        if text.utf8.contains(UInt8(ascii: ":")) {
            guard let value = Self.parseV6(text) else { return nil }
            self = .v6(value)
        } else {
            guard let value = Self.parseV4(text) else { return nil }
            self = .v4(value)
        }
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

    private static func parseV4(_ text: some StringProtocol) -> UInt32? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var value: UInt32 = 0
        for part in parts {
            // A leading zero is octal to some readers and decimal to others: refused, as inet_pton does.
            guard part.count == 1 || part.first != "0", let field = DecimalField(part, maximum: 255) else { return nil }
            value = value << 8 | field.value
        }
        return value
    }

    private static func parseV6(_ text: some StringProtocol) -> UInt128? {
        let halves = splitAtDoubleColon(String(text))
        guard let head = groups(halves.head, mayEndInV4: halves.tail == nil) else { return nil }
        guard let tailText = halves.tail else {
            return head.count == 8 ? join(head) : nil
        }
        guard let tail = groups(tailText, mayEndInV4: true), head.count + tail.count <= 7 else { return nil }
        return join(head + Array(repeating: 0, count: 8 - head.count - tail.count) + tail)
    }

    private static func splitAtDoubleColon(_ text: String) -> (head: String, tail: String?) {
        var previous: Character?
        for index in text.indices {
            if text[index] == ":", previous == ":" {
                let first = text.index(before: index)
                return (String(text[..<first]), String(text[text.index(after: index)...]))
            }
            previous = text[index]
        }
        return (text, nil)
    }

    /// The 16-bit groups of a colon-separated list, none for an empty text, nil if one is wrong.
    private static func groups(_ text: String, mayEndInV4: Bool) -> [UInt16]? {
        guard !text.isEmpty else { return [] }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 8 else { return nil }
        var result: [UInt16] = []
        for (index, part) in parts.enumerated() {
            if part.contains(".") {
                guard mayEndInV4, index == parts.count - 1, let v4 = parseV4(part) else { return nil }
                result.append(UInt16(v4 >> 16))
                result.append(UInt16(v4 & 0xffff))
            } else {
                guard part.utf8.count <= 4, part.utf8.first != UInt8(ascii: "+"), let group = UInt16(part, radix: 16)
                else { return nil }
                result.append(group)
            }
        }
        return result
    }

    private static func join(_ groups: [UInt16]) -> UInt128 {
        groups.reduce(0) { $0 << 16 | UInt128($1) }
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
