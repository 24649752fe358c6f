internal import CSodium

/// What a slab holds: a plain value with one that means "unused".
///
/// The slab does not store that value: with a stored property of its generic type, Swift 6.3.1 does not run its `deinit`
/// in builds without whole-module optimisation, so that nothing would be wiped.
protocol SlabElement: BitwiseCopyable {
    /// The unused element.
    static var empty: Self { get }
}

/// Storage for many values of one plain type, in chunks that never move and are wiped when freed.
///
/// SAFETY: the chunks are allocated and freed here alone; every access checks its index against the allocated count, so a
/// wrong index traps instead of touching foreign memory.
@safe
struct Slab<Element: SlabElement>: ~Copyable {
    private var chunks: UnsafeMutablePointer<UnsafeMutablePointer<Element>>
    private var chunkCapacity: Int
    private let shift: Int
    /// The number of elements there are, used or free.
    private(set) var count = 0

    /// Makes an empty slab that grows by `1 << shift` elements, each set to `Element.empty`.
    init(chunkShift shift: Int) {
        self.shift = shift
        chunkCapacity = 8
        unsafe chunks = .allocate(capacity: 8)
    }

    /// Adds a chunk.
    mutating func grow() {
        let chunk = count >> shift
        if chunk == chunkCapacity {
            // SAFETY: the new table is twice the old one, which is moved as a whole and then freed.
            let larger = UnsafeMutablePointer<UnsafeMutablePointer<Element>>.allocate(capacity: chunkCapacity * 2)
            unsafe larger.moveInitialize(from: chunks, count: chunkCapacity)
            unsafe chunks.deallocate()
            unsafe chunks = larger
            chunkCapacity *= 2
        }
        let start = UnsafeMutablePointer<Element>.allocate(capacity: 1 << shift)
        unsafe start.initialize(repeating: .empty, count: 1 << shift)
        unsafe (chunks + chunk).initialize(to: start)
        count += 1 << shift
    }

    /// The element at an index below `count`; changes are made in place.
    subscript(index: UInt32) -> Element {
        @inline(__always)
        unsafeAddress {
            precondition(Int(index) < count)
            // SAFETY: the index lies in an allocated chunk.
            return unsafe UnsafePointer(chunks[Int(index) >> shift] + (Int(index) & (1 << shift - 1)))
        }
        @inline(__always)
        unsafeMutableAddress {
            precondition(Int(index) < count)
            // SAFETY: as above.
            return unsafe chunks[Int(index) >> shift] + (Int(index) & (1 << shift - 1))
        }
    }

    /// Overwrites an element in a way that the optimiser keeps, and sets it to the empty value.
    mutating func erase(_ index: UInt32) {
        wipe(&self[index])
        self[index] = .empty
    }

    deinit {
        for chunk in 0..<count >> shift {
            // SAFETY: every chunk below the count was allocated with this size.
            unsafe sodium_memzero(chunks[chunk], MemoryLayout<Element>.stride << shift)
            unsafe chunks[chunk].deallocate()
        }
        unsafe chunks.deallocate()
    }
}

/// A growing row of plain values in one allocation, for tables that hold no secrets.
///
/// SAFETY: as for `Slab`.
@safe
struct Row<Element: BitwiseCopyable>: ~Copyable {
    private var start: UnsafeMutablePointer<Element>
    private var capacity: Int
    private(set) var count: Int

    /// Makes a row of `count` equal elements.
    init(repeating value: Element, count: Int) {
        capacity = max(count, 8)
        self.count = count
        unsafe start = Self.allocate(capacity)
        unsafe start.initialize(repeating: value, count: count)
    }

    /// The memory that the row holds.
    var byteCount: Int { capacity * MemoryLayout<Element>.stride }

    /// Room that begins with a cache line, so that elements of 64 bytes are one line each.
    private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<Element> {
        unsafe UnsafeMutableRawPointer.allocate(byteCount: capacity * MemoryLayout<Element>.stride, alignment: 64)
            .bindMemory(to: Element.self, capacity: capacity)
    }

    /// Adds an element at the end.
    mutating func append(_ value: Element) {
        if count == capacity {
            // SAFETY: the new block is twice the old one, which is moved as a whole and then freed.
            let larger = unsafe Self.allocate(capacity * 2)
            unsafe larger.moveInitialize(from: start, count: count)
            unsafe start.deallocate()
            unsafe start = larger
            capacity *= 2
        }
        unsafe (start + count).initialize(to: value)
        count += 1
    }

    /// The element at an index below `count`.
    subscript(index: Int) -> Element {
        @inline(__always)
        unsafeAddress {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
            // SAFETY: the index lies in the block.
            return unsafe UnsafePointer(start + index)
        }
        @inline(__always)
        unsafeMutableAddress {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
            // SAFETY: as above.
            return unsafe start + index
        }
    }

    deinit {
        unsafe start.deallocate()
    }
}
