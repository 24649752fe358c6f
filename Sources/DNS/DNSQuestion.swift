/// A question to a name server for the addresses of a name (RFC 1035 section 4.1).
public struct DNSQuestion: Sendable, Equatable {
    /// The types of addresses.
    public enum AddressType: UInt16, Sendable, CaseIterable {
        case ipv4 = 1
        case ipv6 = 28

        /// How many bytes an address has.
        public var length: Int { self == .ipv4 ? 4 : 16 }
    }

    /// IN, the class of the Internet.
    static let internet: UInt16 = 1
    /// A standard query (opcode 0) that desires recursion.
    private static let flags: UInt16 = 0x0100

    /// What is asked for.
    public let type: AddressType
    let name: DNSName
    let identifier: UInt16

    /// Makes a question; nil for a name that DNS cannot carry.
    ///
    /// - Parameters:
    ///   - host: The name, with or without a final dot.
    ///   - type: What is asked for.
    ///   - identifier: What tells the answer from others; not to be guessed.
    public init?(_ host: String, _ type: AddressType, identifier: UInt16) {
        guard let name = DNSName(host) else { return nil }
        self.type = type
        self.name = name
        self.identifier = identifier
    }

    /// The datagram that asks.
    public var bytes: [UInt8] {
        let header = [identifier, Self.flags, 1, 0, 0, 0]
        let tail = [type.rawValue, Self.internet]
        return header.flatMap(Self.bigEndian) + name.bytes + tail.flatMap(Self.bigEndian)
    }

    /// Reads a datagram that came from the server that was asked.
    ///
    /// - Returns: Nil for anything that is not the answer to this question.
    public func answer(in datagram: [UInt8]) -> DNSAnswer? { DNSAnswer(datagram, to: self) }

    private static func bigEndian(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }
}
