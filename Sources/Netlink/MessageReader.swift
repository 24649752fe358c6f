import CMnl

/// One received message: the header's fields and the bytes behind it.
struct Message {
    var type: UInt16
    var flags: UInt16
    var sequence: UInt32
    var payload: ArraySlice<UInt8>

    /// Splits a datagram into its messages, and stops at the first that is malformed or cut short.
    static func split(_ datagram: ArraySlice<UInt8>) -> [Message] {
        var rest = datagram
        var messages: [Message] = []
        while let length = rest.integer(UInt32.self, at: 0), length >= 16, Int(length) <= rest.count,
            let type = rest.integer(UInt16.self, at: 4), let flags = rest.integer(UInt16.self, at: 6),
            let sequence = rest.integer(UInt32.self, at: 8)
        {
            let payload = rest.dropFirst(16).prefix(Int(length) - 16)
            messages.append(Message(type: type, flags: flags, sequence: sequence, payload: payload))
            rest = rest.dropFirst((Int(length) + 3) & ~3)
        }
        return messages
    }

    /// The attributes behind a fixed part of `count` bytes.
    func attributes(after count: Int) -> Attributes {
        Attributes(bytes: payload.dropFirst((count + 3) & ~3))
    }
}

/// A list of attributes (struct nlattr): u16 length with its 4-byte header, u16 type, value, padding to 4 bytes.
struct Attributes {
    var bytes: ArraySlice<UInt8>

    /// The value of the first attribute of this type; nil if there is none before the end or a malformed length.
    subscript(type: UInt16) -> ArraySlice<UInt8>? {
        var rest = bytes
        while let length = rest.integer(UInt16.self, at: 0), length >= 4, Int(length) <= rest.count,
            let found = rest.integer(UInt16.self, at: 2)
        {
            // The two upper bits are NLA_F_NESTED and NLA_F_NET_BYTEORDER.
            if found & 0x3fff == type { return rest.dropFirst(4).prefix(Int(length) - 4) }
            rest = rest.dropFirst((Int(length) + 3) & ~3)
        }
        return nil
    }

    func integer<Value: FixedWidthInteger>(_ type: UInt16, as kind: Value.Type) -> Value? {
        self[type]?.integer(kind, at: 0)
    }

    func string(_ type: UInt16) -> String? {
        self[type].map { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    func address(_ type: UInt16, _ family: AddressFamily) -> IPAddress? {
        self[type].flatMap { IPAddress(family: family, bytes: $0) }
    }

    func nested(_ type: UInt16) -> Attributes? {
        self[type].map { Attributes(bytes: $0) }
    }
}

extension ArraySlice<UInt8> {
    /// An integer in host order at an offset from the slice's start; nil if it does not fit.
    func integer<Value: FixedWidthInteger>(_ kind: Value.Type, at offset: Int) -> Value? {
        let width = Value.bitWidth / 8
        guard offset >= 0, count >= width, offset <= count - width else { return nil }
        let start = startIndex + offset
        var value: Value = 0
        for index in 0..<width {
            value |= Value(truncatingIfNeeded: self[start + index]) << (8 * index)
        }
        return Value(littleEndian: value)
    }
}
