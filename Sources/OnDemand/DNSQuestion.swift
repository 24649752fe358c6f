/// The question for the addresses of a name, and what an answer says (RFC 1035 section 4).
public struct DNSQuestion: Sendable, Equatable {
    /// The types of addresses.
    public enum AddressType: UInt16, Sendable, CaseIterable {
        case ipv4 = 1
        case ipv6 = 28
    }

    /// What a datagram says.
    public enum Answer: Sendable, Equatable {
        /// It answers another question, or none.
        case foreign
        /// The server has an address, or says where one is to be asked for.
        case found
        /// The name does not exist, has no such address, or the server refuses or fails.
        case notFound
    }

    private static let headerLength = 12

    /// The datagram.
    public let bytes: [UInt8]

    /// Makes the question; nil for what cannot be a name: labels of 1 to 63 bytes, 253 in all.
    ///
    /// - Parameters:
    ///   - name: The host.
    ///   - type: The type of address.
    ///   - identifier: What tells the answer from others; not to be guessed.
    public init?(_ name: String, _ type: AddressType, identifier: UInt16) {
        let labels = HostName.canonical(name).utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.allSatisfy({ (1...63).contains($0.count) }), name.utf8.count <= 254 else { return nil }
        // Recursion desired, one question.
        var bytes = Self.big(identifier) + [1, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        for label in labels { bytes += [UInt8(label.count)] + label }
        self.bytes = bytes + [0] + Self.big(type.rawValue) + [0, 1]
    }

    /// Reads a datagram that came from the server.
    public func answer(in datagram: [UInt8]) -> Answer {
        guard datagram.count >= bytes.count, datagram[0] == bytes[0], datagram[1] == bytes[1],
            datagram[2] & 0x80 != 0
        else { return .foreign }
        // Servers may write the name in another case (RFC 4343), but the question is the same.
        let question = (datagram[Self.headerLength..<bytes.count], bytes[Self.headerLength...])
        guard zip(question.0, question.1).allSatisfy({ Self.lower($0) == Self.lower($1) }) else { return .foreign }
        let answers = UInt16(datagram[6]) << 8 | UInt16(datagram[7])
        return datagram[3] & 0x0f == 0 && answers > 0 ? .found : .notFound
    }

    private static func big(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xff)] }

    private static func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5a).contains(byte) ? byte | 0x20 : byte }
}
