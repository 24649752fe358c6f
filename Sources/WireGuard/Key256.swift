/// Thirty-two bytes by value: a key, a hash or a chaining key.
///
/// The memory layout is the byte order on the wire (the supported processors are little-endian).
public struct Key256: Sendable, Hashable, BitwiseCopyable {
    /// The bytes as four little-endian words.
    public var words: SIMD4<UInt64>

    /// Makes a value from four little-endian words.
    public init(words: SIMD4<UInt64>) {
        self.words = words
    }

    /// Thirty-two zero bytes.
    public static let zero = Key256(words: .zero)

    /// Makes a value from exactly 32 bytes, nil for any other count.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self = .zero
        for index in bytes.indices {
            words[index >> 3] |= UInt64(bytes[index]) << UInt64((index & 7) * 8)
        }
    }

    /// The 32 bytes in wire order.
    public var bytes: [UInt8] {
        (0..<32).map { byte(at: $0) }
    }

    /// Whether all bytes are zero, decided without a branch on their values.
    public var isZero: Bool {
        (words[0] | words[1] | words[2] | words[3]) == 0
    }

    /// The byte at `index`, 0 to 31.
    func byte(at index: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: words[index >> 3] >> UInt64((index & 7) * 8))
    }

    /// The first 16 bytes as a little-endian number: the size of a MAC and of a cookie.
    var low128: UInt128 {
        UInt128(words[0]) | UInt128(words[1]) << 64
    }

    /// Compares without an early exit.
    public static func == (left: Key256, right: Key256) -> Bool {
        let difference = left.words ^ right.words
        return (difference[0] | difference[1] | difference[2] | difference[3]) == 0
    }
}
