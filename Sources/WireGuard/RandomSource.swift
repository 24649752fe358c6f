/// Where the driver's random bytes come from: the system's generator, or a seeded one in tests.
///
/// Only handshake and cookie messages draw from it, never the data path.
public protocol RandomSource {
    /// Thirty-two fresh, uniformly random bytes.
    mutating func nextKey() -> Key256
}

extension RandomSource {
    /// A random 32-bit index.
    mutating func nextIndex() -> UInt32 {
        UInt32(truncatingIfNeeded: nextKey().words[0])
    }

    /// A delay of 0 to 333 ms, so that two peers do not act in step.
    mutating func nextJitter() -> TimeSpan {
        .milliseconds((nextKey().words[0] >> 32) % (Limits.maximumJitterMilliseconds + 1))
    }
}
