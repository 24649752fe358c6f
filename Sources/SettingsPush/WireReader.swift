import WireGuard

/// Reads big-endian values one after the other, each checked against the end of the bytes.
struct WireReader {
    private let bytes: [UInt8]
    private(set) var position: Int
    private let end: Int

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        position = 0
        end = bytes.count
    }

    private init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
    }

    var remaining: Int { end - position }
    var isAtEnd: Bool { position == end }

    mutating func readUInt8() throws(SettingsFinding) -> UInt8 { try readNumber(UInt8.self) }

    mutating func readUInt16() throws(SettingsFinding) -> UInt16 { try readNumber(UInt16.self) }

    mutating func readUInt32() throws(SettingsFinding) -> UInt32 { try readNumber(UInt32.self) }

    mutating func readUInt64() throws(SettingsFinding) -> UInt64 { try readNumber(UInt64.self) }

    mutating func readUInt128() throws(SettingsFinding) -> UInt128 { try readNumber(UInt128.self) }

    /// A reader of the next `count` bytes, which this one skips.
    mutating func readPart(_ count: Int) throws(SettingsFinding) -> WireReader {
        guard count <= remaining else { throw SettingsFinding(.truncated) }
        defer { position += count }
        return WireReader(bytes, position..<position + count)
    }

    mutating func readBytes(_ count: Int) throws(SettingsFinding) -> [UInt8] {
        guard count <= remaining else { throw SettingsFinding(.truncated) }
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    mutating func readRest() -> [UInt8] {
        defer { position = end }
        return Array(bytes[position..<end])
    }

    /// Refuses bytes that are left over.
    func finish() throws(SettingsFinding) {
        guard isAtEnd else { throw SettingsFinding(.trailingBytes) }
    }

    private mutating func readNumber<Number: FixedWidthInteger>(_: Number.Type) throws(SettingsFinding) -> Number {
        let count = Number.bitWidth / 8
        guard count <= remaining else { throw SettingsFinding(.truncated) }
        defer { position += count }
        // A shift by its full width leaves no bit of a one-byte number.
        return bytes[position..<position + count].reduce(0) { $0 << 8 | Number($1) }
    }
}

/// The values that addresses, prefixes and names are made of.
extension WireReader {
    /// The bit width of the family whose number follows: 4 or 6.
    mutating func readFamily() throws(SettingsFinding) -> Int {
        switch try readUInt8() {
        case 4: 32
        case 6: 128
        default: throw SettingsFinding(.badFamily)
        }
    }

    /// A whole address.
    mutating func readAddress(bitWidth: Int) throws(SettingsFinding) -> IPAddress {
        bitWidth == 32 ? .v4(try readUInt32()) : .v6(try readUInt128())
    }

    /// Family, length, and as many octets as the length needs, the bits beyond it zero.
    mutating func readPrefix() throws(SettingsFinding) -> IPPrefix {
        let bitWidth = try readFamily()
        let length = Int(try readUInt8())
        guard length <= bitWidth else { throw SettingsFinding(.badPrefixLength) }
        let octets = try readBytes((length + 7) / 8)
        let address = octets + Array(repeating: 0, count: bitWidth / 8 - octets.count)
        let value = address.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        let whole: IPAddress = bitWidth == 32 ? .v4(UInt32(truncatingIfNeeded: value)) : .v6(value)
        guard let prefix = IPPrefix(whole, length: length), prefix.address == whole else {
            throw SettingsFinding(.hostBits)
        }
        return prefix
    }

    /// Labels up to an empty one, as DNS writes a name but never compressed; nil for the empty name.
    mutating func readName() throws(SettingsFinding) -> DomainName? {
        var labels: [[UInt8]] = []
        var count = 0
        while true {
            let length = Int(try readUInt8())
            guard length > 0 else { break }
            count += length + 1
            // RFC 1035 section 2.3.4: a label has at most 63 octets, a name 255 with its end.
            guard length <= 63, count <= 254 else { throw SettingsFinding(.badName) }
            labels.append(try readBytes(length))
        }
        guard !labels.isEmpty else { return nil }
        guard let name = DomainName(labels: labels) else { throw SettingsFinding(.badName) }
        return name
    }
}
