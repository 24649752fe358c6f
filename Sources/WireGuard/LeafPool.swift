/// The end of a look-up where one prefix alone is left to compare, apart from the trie to be close to its like.
struct Leaf<Key: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>: BitwiseCopyable {
    /// The prefix.
    var key: Key
    var length: UInt32
    /// Its owner; in an unused leaf, the next unused one.
    var owner: UInt32
    /// The owner of addresses that the prefix does not cover.
    var fallback: UInt32
}

/// The leaves of a trie; what is freed is used again.
struct LeafPool<Key: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>: ~Copyable {
    private var leaves = Row(repeating: Leaf<Key>(key: 0, length: 0, owner: .max, fallback: .max), count: 0)
    private var free = UInt32.max
    /// The number of leaves in use.
    private(set) var count = 0

    /// The memory that the pool holds.
    var byteCount: Int { leaves.byteCount }

    /// The owner of the longest prefix that covers the address.
    @inline(__always)
    func owner(of address: Key, in leaf: Int) -> UInt32 {
        let common = UInt32(truncatingIfNeeded: (leaves[leaf].key ^ address).leadingZeroBitCount)
        return common >= leaves[leaf].length ? leaves[leaf].owner : leaves[leaf].fallback
    }

    /// Overwrites a leaf, or makes one if the index is `UInt32.max`; returns its index.
    mutating func put(_ leaf: Leaf<Key>, at index: UInt32) -> UInt32 {
        guard index == .max else {
            leaves[Int(index)] = leaf
            return index
        }
        count += 1
        guard free == .max else {
            let index = free
            free = leaves[Int(index)].owner
            leaves[Int(index)] = leaf
            return index
        }
        leaves.append(leaf)
        return UInt32(leaves.count - 1)
    }

    /// Frees a leaf.
    mutating func drop(_ index: UInt32) {
        leaves[Int(index)].owner = free
        free = index
        count -= 1
    }
}
