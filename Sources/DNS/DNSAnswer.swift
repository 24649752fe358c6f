/// What a name server says of the addresses of a name.
public enum DNSAnswer: Sendable, Equatable {
    /// The addresses that the name leads to, in network byte order; none where the server knows that there is none of the type.
    case addresses([[UInt8]])
    /// There is no such name.
    case noSuchName
    /// The server cannot or will not say: another one may.
    case failed

    private static let aliasType: UInt16 = 5
    /// A name with more aliases in a row is somebody's joke.
    private static let aliasLimit = 8
    /// Bits of the flags: authoritative, truncated, recursion available.
    private static let (authoritative, truncated, recursive): (UInt16, UInt16, UInt16) = (0x0400, 0x0200, 0x0080)

    /// Reads a datagram; nil for anything that is not the answer to the question.
    ///
    /// Addresses count wherever they can be read. That there are none is believed only of a message that is whole, by TC
    /// and by its bytes (RFC 2181 section 9), and of a server that knows the name or asks those who do: else it is a
    /// referral, not the absence of data (RFC 2308 section 2.2).
    init?(_ datagram: [UInt8], to question: DNSQuestion) {
        var reader = DNSReader(datagram)
        // A response (QR) to a standard query (opcode 0), with the question that was asked in it.
        guard reader.readInteger() == question.identifier, let flags = reader.readInteger(), flags & 0xf800 == 0x8000,
            reader.readInteger() == 1, let count = reader.readInteger(), reader.skip(4),
            reader.readName() == question.name, reader.readInteger() == question.type.rawValue,
            reader.readInteger() == DNSQuestion.internet
        else { return nil }
        switch flags & 15 {
        case 0:
            var records = Records(type: question.type)
            let isWhole = records.read(count, &reader) && flags & Self.truncated == 0
            let addresses = records.addresses(of: question.name)
            let isKnown = isWhole && flags & (Self.authoritative | Self.recursive) != 0
            self = addresses.isEmpty && !isKnown ? .failed : .addresses(addresses)
        case 3: self = .noSuchName
        default: self = .failed
        }
    }

    /// The records of an answer that lead to addresses.
    private struct Records {
        let type: DNSQuestion.AddressType
        private var aliases: [DNSName: DNSName] = [:]
        private var found: [DNSName: [[UInt8]]] = [:]

        init(type: DNSQuestion.AddressType) { self.type = type }

        /// Reads so many records; false if one cannot be read, and neither can what follows it.
        mutating func read(_ count: UInt16, _ reader: inout DNSReader) -> Bool {
            for _ in 0..<count {
                guard let owner = reader.readName(), let kind = reader.readInteger(),
                    let recordClass = reader.readInteger(),
                    reader.skip(4), let length = reader.readInteger(), var data = reader.split(Int(length))
                else { return false }
                switch (recordClass, kind) {
                case (DNSQuestion.internet, aliasType):
                    guard let target = data.readName() else { return false }
                    aliases[owner] = target
                case (DNSQuestion.internet, type.rawValue):
                    guard let address = data.readRest(type.length) else { return false }
                    found[owner, default: []].append(address)
                default: break
                }
            }
            return true
        }

        /// The addresses of a name, or of what it is an alias of.
        func addresses(of name: DNSName) -> [[UInt8]] {
            var owner = name
            for _ in 0...aliasLimit {
                if let addresses = found[owner] { return addresses }
                guard let next = aliases[owner] else { break }
                owner = next
            }
            return []
        }
    }
}
