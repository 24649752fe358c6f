/// Look-ups, and the strides that serve them.
///
/// A look-up takes eight bits of the address a step, and skips bits in which nothing branches. The nodes of the trie lend
/// themselves to it as follows; `top` and the slots of strides are the places where a look-up comes to a node:
///
///     node without children    the end: the address is compared with its prefix, in the entry itself if few bits are
///                              left and addresses beside it are the stride's fallback's, else in its leaf
///     node that branches       its stride, which begins with the byte that holds the bit behind the node's prefix; the
///                              nodes whose prefixes end in that byte are spread over its slots, longer ones own a slot
///
/// So the strides follow from the trie alone, a stride belongs to one node, and a change needs to look at the strides on
/// the way of the changed prefix only, and below them where the owner that shorter prefixes give has changed.
extension PrefixTrie {
    /// A prefix that was changed in the trie.
    private struct Change {
        let key: Key
        let length: UInt32

        /// Whether the first `length` bits of a key are those of the prefix, which has at least as many.
        func isBelow(_ key: Key, _ length: UInt32) -> Bool {
            self.length >= length && (self.key ^ key).leadingZeroBitCount >= Int(length)
        }
    }

    /// The owner of the longest prefix that covers the address, or `none`.
    @inline(__always)
    func owner(of address: Key) -> UInt32 {
        var entry = top
        while entry.isStride { entry = strides.entry(of: address, in: entry.index) }
        return entry.isLeaf ? leaves.owner(of: address, in: entry.index) : entry.owner
    }

    /// Brings the strides up to date after a change of a prefix.
    mutating func refresh(_ key: Key, _ length: UInt32) {
        top = entry(for: root, endingAt: 0, beside: Self.none, in: nil, Change(key: key, length: length))
    }

    /// Frees the stride or the leaf of a node that has no use for it any more.
    mutating func dropStep(of index: UInt32) {
        let entry = nodes[Int(index)].entry
        if entry.isStride { strides.drop(UInt32(entry.index)) }
        if entry.isLeaf { leaves.drop(UInt32(entry.index)) }
        nodes[Int(index)].step = LookupEntry.owner(Self.none).bits
    }

    /// The entry of a place, which serves the addresses that share their first `end` bits, from the topmost node in it.
    ///
    /// `owner` is that of the longest prefix above the node that covers the place, `fallback` that of the stride it is in.
    private mutating func entry(
        for index: UInt32, endingAt end: UInt32, beside owner: UInt32, in fallback: UInt32?, _ change: Change
    ) -> LookupEntry {
        guard index != Self.none else { return .owner(owner) }
        let node = nodes[Int(index)]
        guard !node.isLeaf else {
            let near = owner == fallback ? nearEntry(for: node, endingAt: end) : nil
            guard node.length > end, near == nil else {
                dropStep(of: index)
                return near ?? .owner(node.owner)
            }
            if !node.entry.isLeaf { dropStep(of: index) }
            let leaf = Leaf(key: node.key, length: node.length, owner: node.owner, fallback: owner)
            let place = leaves.put(leaf, at: node.entry.isLeaf ? UInt32(node.entry.index) : Self.none)
            nodes[Int(index)].step = LookupEntry.leaf(place).bits
            return .leaf(place)
        }
        let start = node.length & ~7
        if !node.entry.isStride {
            dropStep(of: index)
            let shift = UInt32(Key.bitWidth) - 8 - start
            let stride = strides.make(key: Self.leading(start, of: node.key), shift: shift)
            nodes[Int(index)].step = LookupEntry.stride(stride).bits
        } else if strides.fallback(of: node.entry.index) == owner {
            guard change.isBelow(node.key, start) else { return node.entry }
            if change.length >= start + 8 {
                updateSlot(of: index, beside: owner, change)
                return node.entry
            }
        }
        var entries = StrideEntries()
        let window = Window(node: index, end: start + 8, fallback: owner)
        collect(index, beside: owner, window, change, from: 0, to: 256, into: &entries)
        let stride = nodes[Int(index)].entry
        strides.setEntries(of: stride.index, to: entries, fallback: owner)
        return stride
    }

    /// The entry that compares what is left of a node's prefix itself, nil if that is nothing or too much.
    private func nearEntry(for node: Node, endingAt end: UInt32) -> LookupEntry? {
        let width = LookupEntry.restWidth
        guard node.length > end, node.length <= end + width, end + width <= UInt32(Key.bitWidth) else { return nil }
        let rest = node.key &>> Key(truncatingIfNeeded: UInt32(Key.bitWidth) - width - end)
        return .owner(node.owner, rest: UInt16(truncatingIfNeeded: rest), length: node.length - end)
    }

    /// Makes the one entry anew that a change lies below.
    private mutating func updateSlot(of index: UInt32, beside fallback: UInt32, _ change: Change) {
        let end = nodes[Int(index)].length & ~7 + 8
        var (below, owner) = (index, fallback)
        while below != Self.none, nodes[Int(below)].length < end {
            let node = nodes[Int(below)]
            guard change.isBelow(node.key, node.length) else {
                below = Self.none
                break
            }
            if node.owner != Self.none { owner = node.owner }
            below = Self.bit(change.key, node.length) ? node.right : node.left
        }
        if below != Self.none, !change.isBelow(nodes[Int(below)].key, end) { below = Self.none }
        let entry = entry(for: below, endingAt: end, beside: owner, in: fallback, change)
        strides.setEntry(entry, of: change.key, in: nodes[Int(index)].entry.index)
    }

    /// The byte of the keys that a stride looks at.
    private struct Window {
        /// The node whose stride it is.
        let node: UInt32
        /// The number of bits up to the byte's last one.
        let end: UInt32
        /// The owner of addresses that the stride does not cover.
        let fallback: UInt32
    }

    /// Adds the entries of slots `from` to `to`, which hold a node and what is below it.
    private mutating func collect(
        _ index: UInt32, beside owner: UInt32, _ window: Window, _ change: Change, from: Int, to: Int,
        into entries: inout StrideEntries
    ) {
        guard index != Self.none else { return entries.append(.owner(owner), from: from) }
        let node = nodes[Int(index)]
        let byte = node.key &>> Key(truncatingIfNeeded: UInt32(Key.bitWidth) - window.end)
        let slot = Int(truncatingIfNeeded: byte) & 255
        let slots = node.length < window.end ? 1 << Int(window.end - node.length) : 1
        if from < slot { entries.append(.owner(owner), from: from) }
        if node.length < window.end {
            // The node may have been the topmost one of a slot before the change.
            if index != window.node { dropStep(of: index) }
            let own = node.owner == Self.none ? owner : node.owner
            let middle = slot + slots / 2
            collect(node.left, beside: own, window, change, from: slot, to: middle, into: &entries)
            collect(node.right, beside: own, window, change, from: middle, to: slot + slots, into: &entries)
        } else {
            entries.append(
                entry(for: index, endingAt: window.end, beside: owner, in: window.fallback, change), from: slot)
        }
        if slot + slots < to { entries.append(.owner(owner), from: slot + slots) }
    }
}
