/// What is thrown at a tunnel.
enum Attack: String, CaseIterable {
    case malformed, truncated, flipped, replayed, reordered, reflected, strangers

    /// What it is, for the report.
    var summary: String {
        switch self {
        case .malformed: "unknown types, reserved bytes set, datagrams too short for any message"
        case .truncated: "messages of every type cut short, or with a byte too many"
        case .flipped: "messages of every type with one bit flipped"
        case .replayed: "packets and initiations that were taken once before"
        case .reordered: "packets at, before and behind the edge of the replay window"
        case .reflected: "what the victim itself says, sent back to it"
        case .strangers: "a stranger's initiation with a right first MAC from 65,536 addresses"
        }
    }

    /// The source addresses: 198.18.0.0/15 is for benchmarks (RFC 2544); none leaves the choice to the kernel.
    var sources: Range<UInt32> { self == .strangers ? 0xc612_0000..<0xc613_0000 : 0..<0 }

    /// Whether the reason for each message to be dropped is known before, as it does not depend on the load.
    var isExact: Bool { self != .strangers }

    /// Whether it can go on for long: what is in order once is a replay the next time.
    var isLasting: Bool { self != .reordered }

    /// Whether messages have a right first MAC: under load each that finds room in the queue is worth a cookie reply.
    var makesVictimAnswer: Bool { self == .replayed || self == .strangers }

    /// Messages that may be on their way at once.
    ///
    /// The queue of handshake messages has room for 256, and from 32 on the victim is under load, where it may drop one for
    /// another reason.
    var burst: Int {
        switch self {
        case .malformed, .truncated, .reordered: 256
        case .flipped, .replayed, .reflected, .strangers: 16
        }
    }
}
