import PacketPath
import WireGuard

/// Handshake and cookie messages on their way from the receive loop to control: bounded, and nothing is allocated for one.
struct HandshakeQueue: ~Copyable {
    /// The most messages that wait; a flood beyond it is dropped, and an eighth of it means that we are under load.
    static let capacity = 256

    /// One message with where it came from and where to.
    struct Message {
        /// At most 148 bytes.
        var bytes = InlineArray<19, UInt64>(repeating: 0)
        var count = 0
        var from = Endpoint(.v4(0), port: 0, scope: 0)
        var to: LocalAddress?
    }

    private var messages = [Message](repeating: Message(), count: capacity)
    private var first = 0
    /// How many messages wait.
    private(set) var depth = 0

    /// Takes a copy of a message; false when the queue is full.
    mutating func push(_ datagram: RawSpan, from: Endpoint, to: LocalAddress?) -> Bool {
        guard depth < Self.capacity, datagram.byteCount <= MessageSize.initiation else { return false }
        let place = (first + depth) % Self.capacity
        for word in 0..<(datagram.byteCount + 7) / 8 {
            messages[place].bytes[word] = datagram.littleEndianWord(word)
        }
        messages[place].count = datagram.byteCount
        messages[place].from = from
        messages[place].to = to
        depth += 1
        return true
    }

    /// Takes the oldest message.
    mutating func pop() -> Message? {
        guard depth > 0 else { return nil }
        defer {
            first = (first + 1) % Self.capacity
            depth -= 1
        }
        return messages[first]
    }
}
