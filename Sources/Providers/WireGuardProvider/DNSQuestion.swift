import WireGuard

/// A question to a name server for the addresses of a name, and the reading of the answer (RFC 1035 section 4.1).
struct DNSQuestion: Sendable {
    /// The kinds of records that are asked for.
    enum RecordType: UInt16, Sendable {
        case ipv4 = 1
        case ipv6 = 28

        var addressLength: Int { self == .ipv4 ? 4 : 16 }
    }

    /// What a server says.
    enum Answer: Sendable, Equatable {
        /// The addresses of the name; none if it has none of the kind.
        case addresses([IPAddress])
        /// There is no such name.
        case noSuchName
        /// The server cannot or will not answer.
        case failed
    }

    private static let alias: UInt16 = 5
    private static let internet: UInt16 = 1
    /// A name with more aliases in a row is somebody's joke.
    private static let aliasLimit = 8

    let identifier: UInt16
    let type: RecordType
    private let name: DNSName

    /// Makes a question; nil for a name that DNS cannot carry.
    ///
    /// - Parameters:
    ///   - host: The name, with or without a final dot.
    ///   - type: What is asked for.
    ///   - identifier: A random number that no other question has.
    init?(_ host: String, _ type: RecordType, identifier: UInt16) {
        guard let name = DNSName(host) else { return nil }
        self.identifier = identifier
        self.type = type
        self.name = name
    }

    /// The question as it is sent: recursion is desired.
    var bytes: [UInt8] {
        let header: [UInt16] = [identifier, 0x0100, 1, 0, 0, 0]
        let tail: [UInt16] = [type.rawValue, Self.internet]
        return header.flatMap(Self.bigEndian) + name.bytes + tail.flatMap(Self.bigEndian)
    }

    /// Reads a datagram that came from the server that was asked.
    ///
    /// - Returns: nil for anything that is not the answer to this question.
    func answer(in datagram: [UInt8]) -> Answer? {
        var reader = DNSReader(datagram)
        // A response (QR) to a standard query (opcode 0), with the question that was asked in it.
        guard reader.readInteger() == identifier, let flags = reader.readInteger(), flags & 0xf800 == 0x8000,
            reader.readInteger() == 1, let count = reader.readInteger(), reader.skip(4), reader.readName() == name,
            reader.readInteger() == type.rawValue, reader.readInteger() == Self.internet
        else { return nil }
        switch flags & 15 {
        case 0: return .addresses(readAddresses(count: count, &reader))
        case 3: return .noSuchName
        default: return .failed
        }
    }

    /// The addresses that the records of the answer lead to, of a truncated one those that are there.
    private func readAddresses(count: UInt16, _ reader: inout DNSReader) -> [IPAddress] {
        var aliases: [DNSName: DNSName] = [:]
        var found: [DNSName: [IPAddress]] = [:]
        for _ in 0..<count {
            guard let owner = reader.readName(), let kind = reader.readInteger(),
                let recordClass = reader.readInteger(),
                reader.skip(4), let length = reader.readInteger(), var data = reader.split(Int(length))
            else { break }
            guard recordClass == Self.internet else { continue }
            if kind == Self.alias {
                if let target = data.readName() { aliases[owner] = target }
            } else if kind == type.rawValue, let address = data.readAddress(length: type.addressLength) {
                found[owner, default: []].append(address)
            }
        }
        var owner = name
        for _ in 0..<Self.aliasLimit {
            if let addresses = found[owner] { return addresses }
            guard let next = aliases[owner] else { break }
            owner = next
        }
        return []
    }

    private static func bigEndian(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }
}

/// A name as DNS carries it: labels in lower case, since case does not count.
struct DNSName: Sendable, Hashable {
    /// The longest name on the wire, with the length of each label and the final zero (RFC 1035 section 2.3.4).
    private static let sizeLimit = 255

    private let labels: [[UInt8]]

    /// Reads a name as a person writes it; nil for one that does not fit.
    init?(_ text: String) {
        let name = text.hasSuffix(".") ? text.dropLast() : text[...]
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { Array($0) }
        guard labels.allSatisfy({ (1...63).contains($0.count) }) else { return nil }
        self.init(labels: labels)
    }

    init?(labels: [[UInt8]]) {
        guard labels.reduce(1, { $0 + $1.count + 1 }) <= Self.sizeLimit else { return nil }
        self.labels = labels.map { $0.map { (65...90).contains($0) ? $0 | 32 : $0 } }
    }

    var bytes: [UInt8] { labels.flatMap { [UInt8($0.count)] + $0 } + [0] }
}
