import WireGuard

/// A message that is repeated until it is answered: five tries, 0.5, 1, 2, 4 and 8 seconds apart and up to a fifth more.
struct Retransmission: Sendable {
    /// What an answer repeats.
    let transaction: UInt32
    /// The payload of each datagram.
    let bytes: [UInt8]
    /// When the first one was sent.
    let firstSent: Instant
    /// How often it has been sent.
    private(set) var tries = 0
    /// When it is sent again, or given up.
    private(set) var next: Instant

    private static let delays: [TimeSpan] = [
        .milliseconds(500), .seconds(1), .seconds(2), .seconds(4), .seconds(8),
    ]

    /// Makes a message that is due at once.
    init(_ message: Message, at now: Instant) {
        transaction = message.transaction
        bytes = message.bytes
        firstSent = now
        next = now
    }

    /// Whether all tries are used and the last one has had its time.
    func isExhausted(at now: Instant) -> Bool { tries == Self.delays.count && now >= next }

    /// When it is sent again; nil when no try is left.
    var nextTry: Instant? { tries < Self.delays.count ? next : nil }

    /// Counts a try that is made now, and sets the time of the next one.
    mutating func noteSent(at now: Instant, random: inout SeededRandom) {
        let delay = Self.delays[min(tries, Self.delays.count - 1)]
        tries += 1
        next = now + delay + TimeSpan(nanoseconds: random.below(delay.nanoseconds / 5 + 1))
    }
}
