private import PacketPath
internal import ProviderKit
internal import Synchronization

/// The memory of a packet flow: blocks of slots in a slab, lent as whole batches.
final class PacketSlots: Sendable {
    /// How many batches can be out at a time.
    static let blockCount = 8
    private let slab: Slab
    private let free = Mutex(Array(0..<PacketSlots.blockCount))

    init() throws {
        slab = try Slab(count: Self.blockCount * PacketBatch.capacity)
    }

    /// Lends a block as a batch of `count` packets of length 0; nil while every block is out.
    func lend(count: Int) -> PacketBlock? {
        guard let block = free.withLock({ $0.popLast() }) else { return nil }
        return PacketBlock(block, of: self, count: count)
    }

    fileprivate func giveBack(_ block: Int) { free.withLock { $0.append(block) } }

    /// The address of a packet.
    fileprivate func address(_ slot: Int) -> UnsafeMutableRawPointer { unsafe slab.packetAddress(slot) }
}

extension Slab {
    /// The address of the packet in a slot, with room for ``PacketBatch/packetCapacity`` bytes.
    ///
    /// SAFETY: the mapping never moves and is unmapped with the slab, which every block keeps alive through its
    /// ``PacketSlots``. The slab lends it for reading only because it cannot see that no two blocks share a slot.
    fileprivate borrowing func packetAddress(_ slot: Int) -> UnsafeMutableRawPointer {
        let span = bytes(of: slot, from: 0, count: PacketBatch.packetCapacity)
        let bits = unsafe span.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        guard let start = unsafe UnsafeMutableRawPointer(bitPattern: bits) else {
            preconditionFailure("a slab has memory")
        }
        return unsafe start
    }
}

/// One lent block of slots: the lease of a ``PacketBatch``.
///
/// SAFETY: `lengths` and the slots are touched by the holder of the batch alone: the batch is a unique value, and the
/// block's number goes back to the free list only when that value has ended.
final class PacketBlock: PacketLease, @unchecked Sendable {
    let slots: PacketSlots
    private let number: Int
    private(set) var packetCount: Int
    private var lengths = InlineArray<64, Int32>(repeating: 0)

    fileprivate init(_ number: Int, of slots: PacketSlots, count: Int) {
        precondition((0...PacketBatch.capacity).contains(count), "a batch has at most 64 packets")
        self.number = number
        self.slots = slots
        packetCount = count
    }

    @unsafe func packet(at index: Int) -> UnsafeMutableRawBufferPointer {
        precondition(index >= 0 && index < packetCount, "no such packet in the batch")
        return unsafe UnsafeMutableRawBufferPointer(start: address(index), count: Int(lengths[index]))
    }

    func setLength(_ length: Int, at index: Int) {
        precondition(index >= 0 && index < packetCount, "no such packet in the batch")
        lengths[index] = Int32(length)
    }

    func endLease() { slots.giveBack(number) }

    /// Copies a packet into the slot behind the last one.
    func append(_ packet: RawSpan) {
        precondition(packetCount < PacketBatch.capacity, "the batch is full")
        let target = unsafe UnsafeMutableRawBufferPointer(
            start: address(packetCount), count: PacketBatch.packetCapacity)
        unsafe packet.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
        lengths[packetCount] = Int32(packet.byteCount)
        packetCount += 1
    }

    /// Lends one packet for reading.
    func withPacket<Result>(at index: Int, _ body: (RawSpan) -> Result) -> Result {
        let bytes = unsafe packet(at: index)
        return body(unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(bytes)))
    }

    /// The length of one packet.
    func length(at index: Int) -> Int { Int(lengths[index]) }

    private func address(_ index: Int) -> UnsafeMutableRawPointer {
        unsafe slots.address(number * PacketBatch.capacity + index)
    }
}
