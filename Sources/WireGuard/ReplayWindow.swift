/// The sliding window of received counters (RFC 6479): 8192 bits in a ring of words, of which 8128 count.
///
/// Whole words are cleared when the window moves, so no bit is ever shifted; the word that is being entered is the 64
/// counters of difference.
struct ReplayWindow: BitwiseCopyable {
    /// Counters further than this behind the highest are refused.
    static let size: UInt64 = 8128

    /// One more than the highest accepted counter.
    private(set) var next: UInt64 = 0
    private var words = InlineArray<128, UInt64>(repeating: 0)

    /// Accepts a counter that is new and not too old, and remembers it.
    mutating func accept(_ counter: UInt64) -> Bool {
        guard counter < Limits.rejectAfterMessages else { return false }
        let position = counter + 1
        guard position + Self.size >= next else { return false }
        let word = position >> 6
        if position > next {
            let current = next >> 6
            for step in 0..<min(word - current, 128) {
                words[Int((current + 1 + step) & 127)] = 0
            }
            next = position
        }
        let bit: UInt64 = 1 << (position & 63)
        let index = Int(word & 127)
        guard words[index] & bit == 0 else { return false }
        words[index] |= bit
        return true
    }
}
