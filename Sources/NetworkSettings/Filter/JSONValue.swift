/// A JSON value of what `nft -j` reads: texts, numbers, lists and objects.
indirect enum JSONValue: Hashable, Sendable {
    case null
    case number(Int)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])
}

extension JSONValue: CustomStringConvertible {
    /// The value in JSON, the keys of an object in order.
    var description: String {
        var text = ""
        append(to: &text)
        return text
    }

    private func append(to output: inout String) {
        switch self {
        case .null: output += "null"
        case .number(let number): output += "\(number)"
        case .text(let text): Self.append(text, to: &output)
        case .list(let values):
            Self.append(values, "[", "]", to: &output) { $0.append(to: &$1) }
        case .object(let members):
            Self.append(members.sorted { $0.key < $1.key }, "{", "}", to: &output) { member, output in
                Self.append(member.key, to: &output)
                output += ":"
                member.value.append(to: &output)
            }
        }
    }

    private static func append<Element>(
        _ elements: [Element], _ start: String, _ end: String, to output: inout String,
        _ body: (Element, inout String) -> Void
    ) {
        output += start
        for (number, element) in elements.enumerated() {
            if number > 0 { output += "," }
            body(element, &output)
        }
        output += end
    }

    /// RFC 8259 section 7: quotes, backslashes and control characters are escaped.
    private static func append(_ text: String, to output: inout String) {
        output += "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": output += "\\\(scalar)"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                output += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: output.unicodeScalars.append(scalar)
            }
        }
        output += "\""
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByNilLiteral {
    init(stringLiteral value: String) { self = .text(value) }
    init(integerLiteral value: Int) { self = .number(value) }
    init(nilLiteral: ()) { self = .null }
}

extension JSONValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    init(arrayLiteral elements: JSONValue...) { self = .list(elements) }

    /// INVARIANT: the keys differ.
    init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { first, _ in first })
    }
}
