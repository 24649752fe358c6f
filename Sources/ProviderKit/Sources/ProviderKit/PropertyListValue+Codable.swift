/// In JSON a value is what a reader expects: text, a number, a truth value, a list, an object.
///
/// JSON cannot tell a real from an integer and has no bytes, so these two are objects: `{"$real": 1.5}` and
/// `{"$data": "00FF"}` in hexadecimal. A key that begins with `$` itself has a second one in front.
extension PropertyListValue: Codable {
    private static let realKey = "$real"
    private static let dataKey = "$data"

    public init(from decoder: any Decoder) throws {
        let single = try decoder.singleValueContainer()
        // What is frequent comes first, because each wrong guess is an error that is made and dropped.
        if let value = try? single.decode(String.self) {
            self = .string(value)
        } else if let value = try? single.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? single.decode(Int.self) {
            self = .integer(value)
        } else if let value = try? single.decode(Double.self) {
            self = .real(value)
        } else if let values = try? single.decode([PropertyListValue].self) {
            self = .array(values)
        } else {
            self = try Self.keyed(decoder.container(keyedBy: Key.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .string(let value): try encodeSingle(value, encoder)
        case .integer(let value): try encodeSingle(value, encoder)
        case .boolean(let value): try encodeSingle(value, encoder)
        case .array(let values):
            var container = encoder.unkeyedContainer()
            for value in values { try container.encode(value) }
        case .real(let value):
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(value, forKey: Key(Self.realKey))
        case .data(let bytes):
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(bytes.hexadecimal, forKey: Key(Self.dataKey))
        case .dictionary(let values):
            var container = encoder.container(keyedBy: Key.self)
            for (key, value) in values {
                try container.encode(value, forKey: Key(key.hasPrefix("$") ? "$" + key : key))
            }
        }
    }

    private func encodeSingle(_ value: some Encodable, _ encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }

    private static func keyed(_ container: KeyedDecodingContainer<Key>) throws -> PropertyListValue {
        var values: [String: PropertyListValue] = [:]
        for key in container.allKeys {
            switch key.stringValue {
            case realKey: return .real(try container.decode(Double.self, forKey: key))
            case dataKey:
                guard let bytes = [UInt8](hexadecimal: Array(try container.decode(String.self, forKey: key).utf8))
                else {
                    throw DecodingError.dataCorruptedError(
                        forKey: key, in: container, debugDescription: "The bytes are not hexadecimal.")
                }
                return .data(bytes)
            case let name:
                let plain = name.hasPrefix("$$") ? String(name.dropFirst()) : name
                values[plain] = try container.decode(PropertyListValue.self, forKey: key)
            }
        }
        return .dictionary(values)
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }
}
