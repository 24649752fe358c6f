extension [UInt8] {
    /// The bytes that pairs of hexadecimal digits stand for; nil for an odd number or another character.
    init?(hexadecimal digits: some Collection<UInt8>) {
        guard digits.count.isMultiple(of: 2) else { return nil }
        self = []
        reserveCapacity(digits.count / 2)
        var high: UInt8?
        for character in digits {
            guard let digit = Character(UnicodeScalar(character)).hexDigitValue else { return nil }
            if let first = high {
                append(first << 4 | UInt8(digit))
                high = nil
            } else {
                high = UInt8(digit)
            }
        }
    }

    /// Two digits for each byte, in capitals.
    var hexadecimal: String {
        let digits = [Character]("0123456789ABCDEF")
        return String(flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}
