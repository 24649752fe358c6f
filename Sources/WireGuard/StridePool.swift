/// The strides of a trie and their entries, in two rows; what is freed is used again.
struct StridePool<Key: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>: ~Copyable {
    private var strides: Row<Stride<Key>>
    private var entries: Row<LookupEntry>
    private var free = UInt32.max
    /// The first free block of 1, 2, 4 … 256 entries; in a free block stands the place of the next one.
    private var freeBlocks = InlineArray<9, UInt32>(repeating: UInt32.max)
    /// The number of strides in use.
    private(set) var count = 0

    init() {
        strides = Row(repeating: Self.blank, count: 0)
        entries = Row(repeating: .owner(.max), count: 0)
    }

    private static var blank: Stride<Key> {
        Stride(
            key: 0, base: .max, fallback: .max, shift: 0, isFlat: false, before: 0,
            starts: InlineArray(repeating: 0))
    }

    /// The memory that the pool holds.
    var byteCount: Int { strides.byteCount + entries.byteCount }

    /// Where a look-up goes from a stride.
    @inline(__always)
    func entry(of address: Key, in stride: Int) -> LookupEntry {
        let slot = strides[stride].slot(of: address)
        guard slot < 256 else { return .owner(strides[stride].fallback) }
        let entry = entries[Int(strides[stride].base) + strides[stride].place(of: Int(truncatingIfNeeded: slot))]
        guard entry.hasRest, !entry.covers(strides[stride].rest(of: address)) else { return entry }
        return .owner(strides[stride].fallback)
    }

    /// The owner of addresses that the stride does not cover.
    func fallback(of stride: Int) -> UInt32 { strides[stride].fallback }

    /// Makes a stride without entries; `setEntries` comes next.
    mutating func make(key: Key, shift: UInt32) -> UInt32 {
        if free == UInt32.max {
            precondition(strides.count < Int(LookupEntry.maximum))
            strides.append(Self.blank)
            free = UInt32(strides.count - 1)
        }
        let index = free
        free = strides[Int(index)].base
        strides[Int(index)] = Self.blank
        strides[Int(index)].key = key
        strides[Int(index)].shift = UInt8(shift)
        count += 1
        return index
    }

    /// Frees a stride and its entries.
    mutating func drop(_ index: UInt32) {
        freeEntries(of: Int(index))
        strides[Int(index)].base = free
        free = index
        count -= 1
    }

    /// Gives a stride all its entries anew.
    mutating func setEntries(of stride: Int, to new: borrowing StrideEntries, fallback: UInt32) {
        let size = Self.size(of: new.count)
        let isNew = strides[stride].base == .max
        if isNew || Self.size(of: strides[stride].count) != size {
            if !isNew { freeEntries(of: stride) }
            strides[stride].base = allocate(size)
        }
        let base = Int(strides[stride].base)
        strides[stride].fallback = fallback
        // A block of 256 has room for an entry of each slot.
        strides[stride].isFlat = size == 8
        guard size < 8 else {
            strides[stride].starts = InlineArray(repeating: .max)
            var place = -1
            for slot in 0..<256 {
                if new.starts.hasBit(slot) { place += 1 }
                entries[base + slot] = new.values[place]
            }
            return
        }
        strides[stride].starts = new.starts
        var (before, sum): (UInt32, UInt32) = (0, 0)
        for word in 0..<4 {
            before |= sum << UInt32(word * 8)
            sum += UInt32(new.starts[word].nonzeroBitCount)
        }
        strides[stride].before = before
        for place in 0..<new.count { entries[base + place] = new.values[place] }
    }

    /// Gives the slot of an address another entry.
    mutating func setEntry(_ entry: LookupEntry, of address: Key, in stride: Int) {
        let changed = Int(truncatingIfNeeded: strides[stride].slot(of: address))
        let base = Int(strides[stride].base)
        if strides[stride].hasOwnEntry(changed), entry.isStride || entry.isLeaf {
            entries[base + strides[stride].place(of: changed)] = entry
            return
        }
        // The slot is divided from its neighbours, or an owner joins it to them.
        var new = StrideEntries()
        var place = -1
        for slot in 0..<256 {
            if strides[stride].starts.hasBit(slot) { place += 1 }
            new.append(slot == changed ? entry : entries[base + place], from: slot)
        }
        setEntries(of: stride, to: new, fallback: strides[stride].fallback)
    }

    // MARK: - Blocks of entries

    /// The size of the block for a number of entries, as the exponent of two.
    private static func size(of count: Int) -> Int {
        Int.bitWidth - (count - 1).leadingZeroBitCount
    }

    private mutating func allocate(_ size: Int) -> UInt32 {
        let block = freeBlocks[size]
        guard block == .max else {
            freeBlocks[size] = entries[Int(block)].bits
            return block
        }
        let start = entries.count
        precondition(start < Int(LookupEntry.maximum))
        for _ in 0..<1 << size { entries.append(.owner(.max)) }
        return UInt32(start)
    }

    private mutating func freeEntries(of stride: Int) {
        let size = Self.size(of: strides[stride].count)
        entries[Int(strides[stride].base)] = LookupEntry(bits: freeBlocks[size])
        freeBlocks[size] = strides[stride].base
        strides[stride].base = .max
    }
}
