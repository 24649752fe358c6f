/// Reads a DNS message from its beginning; every read says whether there was enough.
struct DNSReader {
    private static let headerLength = 12
    /// The parts of one name: as many labels as it can have, a pointer between any two, and the end.
    private static let partLimit = 255

    private let bytes: [UInt8]
    private var offset: Int
    private let end: Int

    init(_ bytes: [UInt8]) { self.init(bytes, 0, bytes.count) }

    private init(_ bytes: [UInt8], _ offset: Int, _ end: Int) {
        self.bytes = bytes
        self.offset = offset
        self.end = end
    }

    mutating func skip(_ count: Int) -> Bool {
        guard count <= end - offset else { return false }
        offset += count
        return true
    }

    /// The next two bytes.
    mutating func readInteger() -> UInt16? {
        guard skip(2) else { return nil }
        return UInt16(bytes[offset - 2]) << 8 | UInt16(bytes[offset - 1])
    }

    /// A reader of the next bytes, which may point back into the whole message.
    mutating func split(_ count: Int) -> DNSReader? {
        guard skip(count) else { return nil }
        return DNSReader(bytes, offset - count, offset)
    }

    /// All that is left, if it is so many bytes.
    mutating func readRest(_ count: Int) -> [UInt8]? {
        guard end - offset == count, skip(count) else { return nil }
        return Array(bytes[(offset - count)..<offset])
    }

    /// A name, whose end may lie elsewhere in the message (RFC 1035 section 4.1.4).
    mutating func readName() -> DNSName? {
        var name: [UInt8] = []
        // What is read now: it begins at `start`, goes on at `position`, and must be over at `limit`.
        var (start, position, limit) = (offset, offset, end)
        var resume: Int?
        for _ in 0..<Self.partLimit {
            guard position < limit else { return nil }
            let length = Int(bytes[position])
            switch length {
            case 0:
                offset = resume ?? position + 1
                return DNSName(wire: name + [0])
            case 1...63:
                let next = position + 1 + length
                guard next <= limit, name.count + length + 2 <= DNSName.sizeLimit else { return nil }
                name += bytes[position..<next]
                position = next
            case 0xc0...:
                guard position + 1 < limit else { return nil }
                let target = (length & 0x3f) << 8 | Int(bytes[position + 1])
                // A pointer leads to a name before the one that has it, which is over before that one begins: so there is
                // no way around in a circle, and nothing is read twice.
                guard target >= Self.headerLength, target < start else { return nil }
                resume = resume ?? position + 2
                (start, position, limit) = (target, target, start)
            default: return nil
            }
        }
        return nil
    }
}
