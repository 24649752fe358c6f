import WireGuard

/// Reads a DNS message from its beginning; every read says whether there was enough.
struct DNSReader {
    /// Labels and pointers of one name: more than a name can have.
    private static let stepLimit = 160

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

    /// All that is left as an address of so many bytes.
    mutating func readAddress(length: Int) -> IPAddress? {
        guard end - offset == length, skip(length) else { return nil }
        let value = bytes[(offset - length)..<offset].reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        return length == 4 ? .v4(UInt32(truncatingIfNeeded: value)) : .v6(value)
    }

    /// A name, whose end may lie elsewhere in the message (RFC 1035 section 4.1.4).
    mutating func readName() -> DNSName? {
        var labels: [[UInt8]] = []
        var position = offset
        var resume: Int?
        for _ in 0..<Self.stepLimit {
            // What a pointer leads to may lie anywhere before it; what is read in place stays inside of its record.
            guard position < (resume == nil ? end : bytes.count) else { return nil }
            let length = Int(bytes[position])
            switch length {
            case 0:
                offset = resume ?? position + 1
                return DNSName(labels: labels)
            case 1...63:
                guard position + 1 + length <= (resume == nil ? end : bytes.count) else { return nil }
                labels.append(Array(bytes[(position + 1)...(position + length)]))
                position += 1 + length
            case 0xc0...:
                guard position + 1 < bytes.count, resume != nil || position + 2 <= end else { return nil }
                let target = (length & 0x3f) << 8 | Int(bytes[position + 1])
                // Only backwards, so that no loop is possible.
                guard target < position else { return nil }
                resume = resume ?? position + 2
                position = target
            default: return nil
            }
        }
        return nil
    }
}
