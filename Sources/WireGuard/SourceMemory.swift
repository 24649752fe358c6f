/// Whether a source has sent a handshake message in the last 30 to 60 seconds: two Bloom filters that take turns.
///
/// It takes 512 KiB once it is used, however many sources there are. With 65,536 of them one newcomer in 300 is taken for
/// somebody known; with millions, as after a flood with random forged sources, every one is.
public struct SourceMemory: Sendable {
    static let turn: TimeSpan = .seconds(30)
    /// The bits of one filter.
    static let size = 1 << 21

    private var recent: [UInt64] = []
    private var older: [UInt64] = []
    private var turned = Instant.zero

    /// Remembers nobody.
    public init() {}

    /// Notes a source; whether it was quiet before.
    public mutating func note(_ source: Endpoint, now: Instant) -> Bool {
        takeTurn(now)
        if recent.isEmpty {
            recent = Array(repeating: 0, count: Self.size / 64)
            older = recent
        }
        let (first, second) = places(of: source)
        let isKnown =
            Self.has(recent, first) && Self.has(recent, second) || Self.has(older, first) && Self.has(older, second)
        recent[first / 64] |= 1 << UInt64(first % 64)
        recent[second / 64] |= 1 << UInt64(second % 64)
        return !isKnown
    }

    /// Forgets what is older than a turn, all of it after two.
    private mutating func takeTurn(_ now: Instant) {
        let age = now - turned
        guard age >= Self.turn else { return }
        turned = now
        guard !recent.isEmpty else { return }
        if age < Self.turn + Self.turn {
            swap(&recent, &older)
            for word in recent.indices { recent[word] = 0 }
        } else {
            (recent, older) = ([], [])
        }
    }

    /// Two bits by a hash that is keyed per process, so that nobody can choose sources that collide.
    private func places(of source: Endpoint) -> (Int, Int) {
        let hash = UInt(bitPattern: SourceNetwork(source).hashValue)
        return (Int(hash % UInt(Self.size)), Int((hash >> 32) % UInt(Self.size)))
    }

    private static func has(_ filter: [UInt64], _ place: Int) -> Bool {
        filter[place / 64] & 1 << UInt64(place % 64) != 0
    }
}
