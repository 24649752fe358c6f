/// Eight bits of a look-up: 256 slots, of which neighbours with the same entry share it.
///
/// With IPv6 keys it is 64 bytes, a cache line.
struct Stride<Key: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>: BitwiseCopyable {
    /// The bits above the slots; those of the slots and below them are zero.
    var key: Key
    /// The place of the first entry; in an unused stride, the next unused one.
    var base: UInt32
    /// The owner of addresses that `key` does not cover.
    var fallback: UInt32
    /// The number of bits below the slots.
    var shift: UInt8
    /// Whether every slot has an entry of its own, so that none need be counted.
    var isFlat: Bool
    /// How many entries start before each word of `starts`, a byte each.
    var before: UInt32
    /// A bit for each slot that starts an entry; it serves the slots up to the next start.
    var starts: InlineArray<4, UInt64>

    /// The slot of an address, 256 or more if the stride does not cover it.
    @inline(__always)
    func slot(of address: Key) -> Key {
        (key ^ address) &>> Key(truncatingIfNeeded: shift)
    }

    /// The 16 bits of an address behind the slot; only strides with as many below them have entries that ask.
    @inline(__always)
    func rest(of address: Key) -> UInt16 {
        UInt16(truncatingIfNeeded: address &>> Key(truncatingIfNeeded: UInt32(shift) &- LookupEntry.restWidth))
    }

    /// The place of a slot's entry, counted from `base`.
    @inline(__always)
    func place(of slot: Int) -> Int {
        guard !isFlat else { return slot }
        let word = starts[slot >> 6] & (UInt64.max &>> UInt64(truncatingIfNeeded: ~slot & 63))
        return Int((before &>> UInt32(truncatingIfNeeded: slot >> 6 * 8)) & 255) + word.nonzeroBitCount - 1
    }

    /// Whether an entry serves one slot alone.
    func hasOwnEntry(_ slot: Int) -> Bool {
        starts.hasBit(slot) && (slot == 255 || starts.hasBit(slot + 1))
    }

    /// The number of entries.
    var count: Int { place(of: 255) + 1 }
}

/// The entries of a stride while they are made.
struct StrideEntries: ~Copyable {
    private(set) var starts = InlineArray<4, UInt64>(repeating: 0)
    private(set) var values = InlineArray<256, LookupEntry>(repeating: .owner(.max))
    private(set) var count = 0

    /// Sets the entry of all slots from `slot` on; slots come in order, the first is 0.
    mutating func append(_ entry: LookupEntry, from slot: Int) {
        guard count == 0 || values[count - 1] != entry else { return }
        values[count] = entry
        starts[slot >> 6] |= 1 << UInt64(slot & 63)
        count += 1
    }
}

extension InlineArray where count == 4, Element == UInt64 {
    /// Whether one of the 256 bits is set.
    func hasBit(_ index: Int) -> Bool {
        self[index >> 6] &>> UInt64(index & 63) & 1 != 0
    }
}
