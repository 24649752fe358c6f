/// A path-compressed binary trie from prefixes to owners, all nodes in one row with 32-bit links.
///
/// Every node stands for a prefix; nodes without an owner join two branches. The nodes of one owner form a list, so a
/// peer's prefixes are listed and removed without a search. Look-ups do not walk this trie but the strides that are made
/// from it, eight bits a step (`PrefixTrie+Lookup.swift`); every change brings them up to date.
struct PrefixTrie<Key: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>: ~Copyable {
    struct Node: BitwiseCopyable {
        var key: Key
        var length: UInt32
        var owner: UInt32
        /// What look-ups that come to the node use of the pools: a stride if there is something below it, else perhaps a leaf.
        var step: UInt32
        var left: UInt32
        var right: UInt32
        var parent: UInt32
        var next: UInt32
        var previous: UInt32

        var isLeaf: Bool { left == UInt32.max && right == UInt32.max }
        var entry: LookupEntry { LookupEntry(bits: step) }
    }

    /// No node, no owner.
    static var none: UInt32 { UInt32.max }
    /// The owner of prefixes that no peer gets: look-ups end there like with one that is nobody's.
    static var reserved: UInt32 { LookupEntry.maximum - 1 }

    var nodes: Row<Node>
    private(set) var root = UInt32.max
    private var free = UInt32.max
    /// The first node of each owner's list.
    private var heads: Row<UInt32>
    /// The number of prefixes.
    private(set) var count = 0
    /// Where every look-up begins.
    var top = LookupEntry.owner(UInt32.max)
    var strides = StridePool<Key>()
    var leaves = LeafPool<Key>()

    init() {
        nodes = Row(repeating: Self.blank, count: 0)
        heads = Row(repeating: Self.none, count: 0)
    }

    private static var blank: Node {
        Node(
            key: 0, length: 0, owner: none, step: LookupEntry.owner(none).bits, left: none, right: none, parent: none,
            next: none, previous: none)
    }

    /// The memory that the trie holds.
    var byteCount: Int { nodes.byteCount + heads.byteCount + strides.byteCount + leaves.byteCount }

    /// Gives a prefix to an owner; if another one has it, it moves, unless it is reserved.
    ///
    /// Bits of the key beyond the length are zero.
    mutating func insert(_ key: Key, length: Int, owner: UInt32) {
        place(key, length: UInt32(length), owner: owner)
        refresh(key, UInt32(length))
    }

    private mutating func place(_ key: Key, length: UInt32, owner: UInt32) {
        var parent = Self.none
        var index = root
        while index != Self.none {
            let node = nodes[Int(index)]
            let common = min(UInt32((node.key ^ key).leadingZeroBitCount), node.length, length)
            if common == node.length, common == length {
                if node.owner != Self.reserved { setOwner(of: index, to: owner) }
                return
            }
            if common < node.length {
                place(key, length: length, owner: owner, above: index, parent: parent, common: common)
                return
            }
            parent = index
            index = Self.bit(key, node.length) ? node.right : node.left
        }
        let leaf = makeNode(key, length, owner)
        link(leaf, below: parent)
    }

    /// Takes a prefix from its owner; nothing happens if the owner does not have it.
    mutating func remove(_ key: Key, length: Int, owner: UInt32) {
        var index = root
        while index != Self.none {
            let node = nodes[Int(index)]
            guard node.length <= UInt32(length), (node.key ^ key).leadingZeroBitCount >= Int(node.length) else {
                return
            }
            if node.length == UInt32(length) {
                if node.owner == owner, owner != Self.none { take(index) }
                return
            }
            index = Self.bit(key, node.length) ? node.right : node.left
        }
    }

    /// Takes all prefixes from an owner.
    mutating func removeAll(of owner: UInt32) {
        guard Int(owner) < heads.count else { return }
        var own = 0
        forEach(of: owner) { _, _ in own += 1 }
        // A large table that goes as a whole, as when a configuration is replaced, is not taken apart.
        if own == count {
            self = PrefixTrie()
        } else {
            while heads[Int(owner)] != Self.none { take(heads[Int(owner)]) }
        }
    }

    /// Calls `body` for every prefix of an owner, the last one inserted first.
    func forEach(of owner: UInt32, _ body: (Key, Int) -> Void) {
        guard Int(owner) < heads.count else { return }
        var index = heads[Int(owner)]
        while index != Self.none {
            body(nodes[Int(index)].key, Int(nodes[Int(index)].length))
            index = nodes[Int(index)].next
        }
    }

    // MARK: - Structure

    @inline(__always)
    static func bit(_ key: Key, _ position: UInt32) -> Bool {
        (key &>> Key(truncatingIfNeeded: UInt32(Key.bitWidth) - 1 - position)) & 1 != 0
    }

    /// The first `count` bits of a key, with zeros behind them.
    static func leading(_ count: UInt32, of key: Key) -> Key {
        count == 0 ? 0 : key & (~Key.zero &<< Key(truncatingIfNeeded: UInt32(Key.bitWidth) - count))
    }

    /// Puts a new prefix above an existing node: as its direct parent, or beside it below a new joint.
    private mutating func place(
        _ key: Key, length: UInt32, owner: UInt32, above index: UInt32, parent: UInt32, common: UInt32
    ) {
        let leaf = makeNode(key, length, owner)
        guard common < length else {
            replaceChild(index, of: parent, with: leaf)
            link(index, below: leaf)
            return
        }
        let joint = makeNode(Self.leading(common, of: key), common, Self.none)
        replaceChild(index, of: parent, with: joint)
        link(index, below: joint)
        link(leaf, below: joint)
    }

    private mutating func link(_ child: UInt32, below parent: UInt32) {
        nodes[Int(child)].parent = parent
        guard parent != Self.none else {
            root = child
            return
        }
        if Self.bit(nodes[Int(child)].key, nodes[Int(parent)].length) {
            nodes[Int(parent)].right = child
        } else {
            nodes[Int(parent)].left = child
        }
    }

    private mutating func replaceChild(_ child: UInt32, of parent: UInt32, with other: UInt32) {
        if other != Self.none { nodes[Int(other)].parent = parent }
        if parent == Self.none {
            root = other
        } else if nodes[Int(parent)].left == child {
            nodes[Int(parent)].left = other
        } else {
            nodes[Int(parent)].right = other
        }
    }

    /// Takes a prefix from its owner.
    private mutating func take(_ index: UInt32) {
        let node = nodes[Int(index)]
        clear(index)
        refresh(node.key, node.length)
    }

    /// Takes the owner from a node, and the node from the trie unless it joins two branches.
    private mutating func clear(_ index: UInt32) {
        setOwner(of: index, to: Self.none)
        let node = nodes[Int(index)]
        guard node.left == Self.none || node.right == Self.none else { return }
        replaceChild(index, of: node.parent, with: node.left == Self.none ? node.right : node.left)
        release(index)
        // A joint that is left with one branch goes as well.
        guard node.parent != Self.none else { return }
        let parent = nodes[Int(node.parent)]
        guard parent.owner == Self.none, parent.left == Self.none || parent.right == Self.none else { return }
        replaceChild(node.parent, of: parent.parent, with: parent.left == Self.none ? parent.right : parent.left)
        release(node.parent)
    }

    private mutating func makeNode(_ key: Key, _ length: UInt32, _ owner: UInt32) -> UInt32 {
        if free == Self.none {
            precondition(nodes.count < Int(LookupEntry.maximum))
            nodes.append(Self.blank)
            free = UInt32(nodes.count - 1)
        }
        let index = free
        free = nodes[Int(index)].next
        nodes[Int(index)] = Self.blank
        nodes[Int(index)].key = key
        nodes[Int(index)].length = length
        setOwner(of: index, to: owner)
        return index
    }

    private mutating func release(_ index: UInt32) {
        dropStep(of: index)
        nodes[Int(index)] = Self.blank
        nodes[Int(index)].next = free
        free = index
    }

    private mutating func setOwner(of index: UInt32, to owner: UInt32) {
        let node = nodes[Int(index)]
        guard node.owner != owner else { return }
        if node.owner < Self.reserved {
            count -= 1
            if node.previous == Self.none {
                heads[Int(node.owner)] = node.next
            } else {
                nodes[Int(node.previous)].next = node.next
            }
            if node.next != Self.none { nodes[Int(node.next)].previous = node.previous }
        }
        nodes[Int(index)].owner = owner
        nodes[Int(index)].previous = Self.none
        nodes[Int(index)].next = Self.none
        // Neither is listed.
        guard owner < Self.reserved else { return }
        count += 1
        while heads.count <= Int(owner) { heads.append(Self.none) }
        let head = heads[Int(owner)]
        nodes[Int(index)].next = head
        if head != Self.none { nodes[Int(head)].previous = index }
        heads[Int(owner)] = index
    }
}
