/// A UUID (RFC 9562), written as 36 characters in capitals.
public struct UniqueIdentifier: Hashable, Sendable {
    /// The 16 bytes as two numbers, most significant first.
    private let high: UInt64
    private let low: UInt64

    /// Makes a random one (version 4).
    public init() {
        high = UInt64.random(in: 0 ... .max) & ~0xF000 | 0x4000
        low = UInt64.random(in: 0 ... .max) & ~(0xC000 << 48) | 0x8000 << 48
    }

    /// Makes one from its 16 bytes, nil for another number of bytes.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The 16 bytes, most significant first.
    public var bytes: [UInt8] {
        [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) } }
    }
}

extension UniqueIdentifier: LosslessStringConvertible {
    private static let hyphens: [Int] = [8, 13, 18, 23]

    /// Reads the 36 characters, in capitals or not; nil for anything else.
    public init?(_ description: String) {
        let characters = Array(description.utf8)
        guard characters.count == 36, Self.hyphens.allSatisfy({ characters[$0] == UInt8(ascii: "-") }) else {
            return nil
        }
        let digits = characters.indices.filter { !Self.hyphens.contains($0) }.map { characters[$0] }
        guard let bytes = [UInt8](hexadecimal: digits) else { return nil }
        self.init(bytes: bytes)
    }

    /// The 36 characters.
    public var description: String {
        var digits = bytes.hexadecimal
        for position in Self.hyphens { digits.insert("-", at: digits.index(digits.startIndex, offsetBy: position)) }
        return digits
    }
}

extension UniqueIdentifier: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = UniqueIdentifier(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a UUID")
        }
        self = value
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
