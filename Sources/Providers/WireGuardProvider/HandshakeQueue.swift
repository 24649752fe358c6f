import PacketPath
import WireGuard

/// Handshake and cookie messages on their way from the receive loop to control: bounded, and nothing is allocated for one.
///
/// Under a flood there are two lanes, which are served by turns: one for sources that were quiet before, and one for
/// everybody else. So a new peer does not wait behind those who send again and again, and they with their cookies do not
/// wait behind forged sources that are always new.
struct HandshakeQueue: ~Copyable {
    /// The most messages that wait in a lane; an eighth of it means that we are under load.
    static let capacity = 256
    /// How long both lanes are used after an eighth of a lane was full: longer than `Device` remembers load.
    private static let pressureMemory = TimeSpan.seconds(2)

    /// One message with where it came from and where to.
    struct Message {
        /// At most 148 bytes.
        var bytes = InlineArray<19, UInt64>(repeating: 0)
        var count = 0
        var from = Endpoint(.v4(0), port: 0, scope: 0)
        var to: LocalAddress?
        /// Whether its source was quiet before a flood that goes on.
        var isNewcomer = false
    }

    private var newcomers = Lane()
    private var others = Lane()
    private var sources = SourceMemory()
    private var pressureUntil = Instant.zero
    private var servesNewcomer = false

    /// How many messages wait.
    var depth: Int { newcomers.depth + others.depth }

    /// Takes a copy of a message; false when the queue is full.
    mutating func push(_ datagram: RawSpan, from: Endpoint, to: LocalAddress?, now: Instant) -> Bool {
        guard datagram.byteCount <= MessageSize.initiation else { return false }
        if depth * 8 >= Self.capacity { pressureUntil = now + Self.pressureMemory }
        guard now < pressureUntil, sources.note(from, now: now) else {
            return others.push(datagram, from: from, to: to, isNewcomer: false)
        }
        return newcomers.push(datagram, from: from, to: to, isNewcomer: true)
    }

    /// Takes the oldest message of a lane, of both by turns.
    mutating func pop() -> Message? {
        servesNewcomer.toggle()
        if servesNewcomer, let message = newcomers.pop() { return message }
        if let message = others.pop() { return message }
        return newcomers.pop()
    }
}

extension HandshakeQueue {
    /// A ring of messages.
    fileprivate struct Lane: ~Copyable {
        private var messages = [Message](repeating: Message(), count: HandshakeQueue.capacity)
        private var first = 0
        private(set) var depth = 0

        mutating func push(_ datagram: RawSpan, from: Endpoint, to: LocalAddress?, isNewcomer: Bool) -> Bool {
            guard depth < HandshakeQueue.capacity else { return false }
            let place = (first + depth) % HandshakeQueue.capacity
            for word in 0..<(datagram.byteCount + 7) / 8 {
                messages[place].bytes[word] = datagram.littleEndianWord(word)
            }
            messages[place].count = datagram.byteCount
            messages[place].from = from
            messages[place].to = to
            messages[place].isNewcomer = isNewcomer
            depth += 1
            return true
        }

        mutating func pop() -> Message? {
            guard depth > 0 else { return nil }
            defer {
                first = (first + 1) % HandshakeQueue.capacity
                depth -= 1
            }
            return messages[first]
        }
    }
}
