/// A datagram on its way.
public struct SentDatagram: Sendable {
    /// The end that sent it.
    public let from: DatagramSide
    /// How many datagrams this end had sent before.
    public let number: Int
    /// Its bytes.
    public let bytes: [UInt8]
}

/// What the network does to each datagram: a delay for every copy that arrives, none when it is lost.
public struct DatagramScript: Sendable {
    let delays: @Sendable (SentDatagram) -> [Duration]

    /// Decides by a function of the datagram alone, so that a run can be repeated.
    public init(_ delays: @escaping @Sendable (SentDatagram) -> [Duration]) {
        self.delays = delays
    }

    /// Every datagram arrives at once.
    public static let perfect = DatagramScript { _ in [.zero] }

    /// Every datagram arrives after `delay`.
    public static func delayed(by delay: Duration) -> DatagramScript { DatagramScript { _ in [delay] } }

    /// The datagrams of one end with these numbers are lost, all others arrive after `delay`.
    public static func losing(
        _ numbers: Set<Int>, from side: DatagramSide, delay: Duration = .zero
    ) -> DatagramScript {
        DatagramScript { $0.from == side && numbers.contains($0.number) ? [] : [delay] }
    }

    /// Loses, duplicates and reorders by chance, the same way for the same seed.
    ///
    /// - Parameters:
    ///   - seed: Selects the course of events.
    ///   - loss: The probability that a datagram is lost, 0 to 1.
    ///   - duplication: The probability that one arrives twice, 0 to 1.
    ///   - delay: The bounds of the delay; datagrams overtake each other within them.
    /// - Returns: The script.
    public static func random(
        seed: UInt64, loss: Double, duplication: Double = 0, delay: ClosedRange<Duration>
    ) -> DatagramScript {
        DatagramScript { datagram in
            var chance = Chance(seed: seed, datagram)
            guard chance.next() >= loss else { return [] }
            let width = delay.upperBound - delay.lowerBound
            let copies = chance.next() < duplication ? 2 : 1
            return (0..<copies).map { _ in delay.lowerBound + width * chance.next() }
        }
    }
}

/// SplitMix64, started anew for every datagram: what happens to one does not depend on the others.
private struct Chance {
    private var state: UInt64

    init(seed: UInt64, _ datagram: SentDatagram) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 ^ datagram.from.rawValue << 63 ^ UInt64(datagram.number)
        _ = next()
    }

    /// A number from 0 up to 1.
    mutating func next() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return Double((mixed ^ mixed >> 31) >> 11) / Double(1 << 53)
    }
}
