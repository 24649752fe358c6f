/// Base64 and hex, without tables or branches that depend on the key's bytes.
extension Key256 {
    /// Parses the 44 characters of base64 that `wg` writes; the padding and the two unused bits must be right.
    public init?(base64 text: some StringProtocol) {
        let characters = Array(text.utf8)
        guard characters.count == 44, characters[43] == UInt8(ascii: "=") else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(33)
        var bad: Int32 = 0
        for group in stride(from: 0, to: 44, by: 4) {
            var value: Int32 = 0
            for index in group..<group + 4 {
                let digit = index == 43 ? 0 : Self.base64Digit(Int32(characters[index]))
                bad |= digit
                value = value << 6 | (digit & 63)
            }
            bytes.append(UInt8(truncatingIfNeeded: value >> 16))
            bytes.append(UInt8(truncatingIfNeeded: value >> 8))
            bytes.append(UInt8(truncatingIfNeeded: value))
        }
        guard bad >= 0, bytes.removeLast() == 0 else { return nil }
        self.init(bytes: bytes)
    }

    /// Parses 64 hexadecimal digits of either case.
    public init?(hex text: some StringProtocol) {
        let characters = Array(text.utf8)
        guard characters.count == 64 else { return nil }
        var bad: Int32 = 0
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: 64, by: 2) {
            let high = Self.hexDigit(Int32(characters[index]))
            let low = Self.hexDigit(Int32(characters[index + 1]))
            bad |= high | low
            bytes.append(UInt8(truncatingIfNeeded: high << 4 | low))
        }
        guard bad >= 0 else { return nil }
        self.init(bytes: bytes)
    }

    /// The value as 44 characters of base64.
    public var base64: String {
        let source = bytes + [0]
        var characters: [UInt8] = []
        for group in stride(from: 0, to: 33, by: 3) {
            let value = Int32(source[group]) << 16 | Int32(source[group + 1]) << 8 | Int32(source[group + 2])
            for shift: Int32 in [18, 12, 6, 0] {
                characters.append(Self.base64Character(value >> shift & 63))
            }
        }
        characters[43] = UInt8(ascii: "=")
        return String(decoding: characters, as: UTF8.self)
    }

    /// The value as 64 lower-case hexadecimal digits, as the control protocol writes it.
    public var hex: String {
        var characters: [UInt8] = []
        for byte in bytes {
            characters.append(Self.hexCharacter(Int32(byte >> 4)))
            characters.append(Self.hexCharacter(Int32(byte & 15)))
        }
        return String(decoding: characters, as: UTF8.self)
    }

    /// All ones if `first <= character <= last`, else zero.
    private static func mask(_ character: Int32, _ first: Unicode.Scalar, _ last: Unicode.Scalar) -> Int32 {
        ((Int32(first.value) - 1 - character) & (character - Int32(last.value) - 1)) >> 8
    }

    /// The value of a base64 character, negative if it is none.
    private static func base64Digit(_ character: Int32) -> Int32 {
        let upper = mask(character, "A", "Z") & (character - 64)
        let lower = mask(character, "a", "z") & (character - 70)
        let digit = mask(character, "0", "9") & (character + 5)
        return -1 + upper + lower + digit + (mask(character, "+", "+") & 63) + (mask(character, "/", "/") & 64)
    }

    private static func base64Character(_ value: Int32) -> UInt8 {
        let lower = (25 - value) >> 8 & 6
        let digit = (51 - value) >> 8 & 75
        let plus = (61 - value) >> 8 & 15
        let slash = (62 - value) >> 8 & 3
        return UInt8(truncatingIfNeeded: value + 65 + lower - digit - plus + slash)
    }

    /// The value of a hexadecimal character, negative if it is none.
    private static func hexDigit(_ character: Int32) -> Int32 {
        let digit = mask(character, "0", "9") & (character - 47)
        let upper = mask(character, "A", "F") & (character - 54)
        let lower = mask(character, "a", "f") & (character - 86)
        return -1 + digit + upper + lower
    }

    private static func hexCharacter(_ value: Int32) -> UInt8 {
        UInt8(truncatingIfNeeded: value + 48 + ((9 - value) >> 8 & 39))
    }
}
