/// The four messages of whitepaper section 5.4: sizes, offsets, and the one length check each.
public enum MessageSize {
    /// Handshake initiation, exactly.
    public static let initiation = 148
    /// Handshake response, exactly.
    public static let response = 92
    /// Cookie reply, exactly.
    public static let cookieReply = 64
    /// Transport data without a payload: a keepalive.
    public static let keepalive = 32
    /// The header before the ciphertext of transport data.
    public static let dataHeader = 16
    /// What sealing adds to a padded payload: header and tag.
    public static let dataOverhead = 32
}

/// What a datagram is by its first word and its length.
public enum MessageKind: Sendable, Hashable {
    case initiation, response, cookieReply, data

    /// Classifies a datagram; nil if the type is unknown, a reserved byte is set or the length is wrong.
    ///
    /// Lengths of handshake messages are exact; transport data has at least a tag, and 16-byte blocks are not demanded
    /// because the padding ends at the sender's MTU (whitepaper section 5.4.6).
    public init?(_ datagram: RawSpan) {
        guard datagram.byteCount >= MessageSize.keepalive else { return nil }
        switch (datagram.littleEndian32(at: 0), datagram.byteCount) {
        case (4, _): self = .data
        case (1, MessageSize.initiation): self = .initiation
        case (2, MessageSize.response): self = .response
        case (3, MessageSize.cookieReply): self = .cookieReply
        default: return nil
        }
    }
}

/// The header of a transport data message: type, receiver index, counter (whitepaper section 5.4.6).
public struct DataHeader: Sendable, Hashable, BitwiseCopyable {
    /// The index that the receiver chose for the keypair.
    public var receiverIndex: UInt32
    /// The nonce of the packet.
    public var counter: UInt64

    /// Makes a header to be written.
    public init(receiverIndex: UInt32, counter: UInt64) {
        self.receiverIndex = receiverIndex
        self.counter = counter
    }

    /// Reads the header of a datagram; nil unless its type is transport data and it has room for a tag.
    public init?(_ datagram: RawSpan) {
        guard datagram.byteCount >= MessageSize.keepalive, datagram.littleEndian32(at: 0) == 4 else { return nil }
        receiverIndex = datagram.littleEndian32(at: 4)
        counter = datagram.littleEndian64(at: 8)
    }

    /// The header's first eight and last eight bytes as little-endian words.
    public var words: (UInt64, UInt64) { (4 | UInt64(receiverIndex) << 32, counter) }
}

/// Padding of the inner packet.
public enum Padding {
    /// The padded length of an inner packet: up to the next 16 bytes, but never beyond the MTU.
    ///
    /// A packet longer than the MTU (it changed meanwhile, or the stack sends more) is padded by its last part, as the
    /// kernel does; an MTU of 0 means unknown.
    @inlinable
    public static func paddedLength(of length: Int, mtu: Int) -> Int {
        guard mtu > 0 else { return (length + 15) & ~15 }
        let last = length > mtu ? length % mtu : length
        return length - last + Swift.min((last + 15) & ~15, mtu)
    }
}

/// The field offsets of handshake messages.
enum Offset {
    static let sender = 4
    static let receiver = 4
    static let initiationEphemeral = 8
    static let initiationStatic = 40
    static let initiationTimestamp = 88
    static let initiationMAC1 = 116
    static let responseReceiver = 8
    static let responseEphemeral = 12
    static let responseEmpty = 44
    static let responseMAC1 = 60
    static let cookieNonce = 8
    static let cookieSealed = 32
}

extension [UInt8] {
    /// Appends a 32-bit number in little-endian order.
    mutating func append(littleEndian value: UInt32) {
        for shift: UInt32 in [0, 8, 16, 24] { append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    /// Appends a 64-bit number in little-endian order.
    mutating func append(littleEndian value: UInt64) {
        append(littleEndian: UInt32(truncatingIfNeeded: value))
        append(littleEndian: UInt32(truncatingIfNeeded: value >> 32))
    }

    /// Appends a 128-bit number in little-endian order.
    mutating func append(littleEndian value: UInt128) {
        append(littleEndian: UInt64(truncatingIfNeeded: value))
        append(littleEndian: UInt64(truncatingIfNeeded: value >> 64))
    }
}
