/// The receiver indices of all live sessions: an open-addressed table from random 32-bit index to session slot.
///
/// We choose the indices at random, so they are their own hash and nobody else can make them collide.
struct IndexTable: ~Copyable {
    struct Entry: BitwiseCopyable {
        var index: UInt32
        var slot: UInt32
    }

    static let none = UInt32.max
    private var entries: Row<Entry>
    private var mask: Int
    /// The number of indices in the table.
    private(set) var count = 0

    init() {
        entries = Row(repeating: Entry(index: 0, slot: Self.none), count: 64)
        mask = 63
    }

    /// The slot of an index, or `none`.
    func slot(of index: UInt32) -> UInt32 {
        var position = Int(index) & mask
        while entries[position].slot != Self.none {
            if entries[position].index == index { return entries[position].slot }
            position = (position + 1) & mask
        }
        return Self.none
    }

    /// Adds an index; false if it is taken.
    mutating func insert(_ index: UInt32, slot: UInt32) -> Bool {
        guard self.slot(of: index) == Self.none else { return false }
        if (count + 1) * 2 > mask { grow() }
        place(Entry(index: index, slot: slot))
        count += 1
        return true
    }

    /// Removes an index; later entries of its run move up, so no tombstones are needed.
    mutating func remove(_ index: UInt32) {
        var hole = Int(index) & mask
        while entries[hole].index != index || entries[hole].slot == Self.none {
            guard entries[hole].slot != Self.none else { return }
            hole = (hole + 1) & mask
        }
        count -= 1
        var position = (hole + 1) & mask
        while entries[position].slot != Self.none {
            let home = Int(entries[position].index) & mask
            if (position - home) & mask >= (position - hole) & mask {
                entries[hole] = entries[position]
                hole = position
            }
            position = (position + 1) & mask
        }
        entries[hole].slot = Self.none
    }

    private mutating func place(_ entry: Entry) {
        var position = Int(entry.index) & mask
        while entries[position].slot != Self.none { position = (position + 1) & mask }
        entries[position] = entry
    }

    private mutating func grow() {
        let size = (mask + 1) * 2
        var old = Row(repeating: Entry(index: 0, slot: Self.none), count: size)
        swap(&old, &entries)
        mask = size - 1
        for position in 0..<old.count where old[position].slot != Self.none { place(old[position]) }
    }
}
