internal import CTun

/// Fixed slots for packets of up to 64 KiB in one lazily touched mapping.
///
/// Slots never move and are named by index. Each has 64 bytes of head-room before `Slab.dataOffset`, then
/// `Slab.dataSize` bytes, then tail-room; memory is taken from the system only for the pages that are used.
public struct Slab: ~Copyable {
    /// Bytes before a packet, for headers that are put in front of it.
    public static let dataOffset: Int = 64
    /// The largest packet or datagram train that a slot takes.
    public static let dataSize: Int = 65_536
    /// Bytes from one slot to the next: 17 pages, so that the tail-room is 4,032 bytes.
    public static let slotSize: Int = 69_632

    /// The number of slots.
    public let count: Int
    private let memory: ByteView

    /// Maps `count` slots, 1 to 4,096.
    public init(count: Int) throws(PathError) {
        guard (1...4096).contains(count) else {
            throw PathError("a slab of \(count) slots cannot be made", advice: "use 1 to 4096 slots")
        }
        var error: Int32 = 0
        guard let base = unsafe ctun_map(count * Slab.slotSize, &error) else {
            throw PathError("cannot map \(count) packet slots", code: error, advice: "raise the memory limit")
        }
        self.count = count
        memory = unsafe ByteView(base: base, count: count * Slab.slotSize)
    }

    deinit { unsafe ctun_unmap(memory.pointer(0, 1), memory.count) }

    /// The whole slot, head-room included.
    @inline(always)
    func view(_ slot: Int) -> ByteView {
        precondition(slot >= 0 && slot < count, "no such slot")
        return memory.slice(slot * Slab.slotSize, Slab.slotSize)
    }

    /// The bytes `offset ..< offset + length` of a slot's data; traps outside the slot.
    @_lifetime(borrow self)
    public func bytes(of slot: Int, from offset: Int, count length: Int) -> RawSpan {
        let window = view(slot).slice(Slab.dataOffset, Slab.slotSize - Slab.dataOffset)
        let span = unsafe RawSpan(_unsafeStart: window.pointer(offset, length), byteCount: length)
        return unsafe _overrideLifetime(span, borrowing: self)
    }

    /// The same bytes for writing.
    @_lifetime(&self)
    public mutating func mutableBytes(of slot: Int, from offset: Int, count length: Int) -> MutableRawSpan {
        let window = view(slot).slice(Slab.dataOffset, Slab.slotSize - Slab.dataOffset)
        let span = unsafe MutableRawSpan(_unsafeStart: window.pointer(offset, length), byteCount: length)
        return unsafe _overrideLifetime(span, mutating: &self)
    }
}

/// SAFETY: the mapping belongs to this one value, and reads and writes go through borrows of it.
extension Slab: @unchecked Sendable {}
