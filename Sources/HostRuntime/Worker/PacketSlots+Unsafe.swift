internal import CTun
private import Glibc
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
    /// Where a packet begins in its slot, so that a device header fits in front of it.
    fileprivate static var headRoom: Int { 64 }

    /// The address of the packet in a slot, with room for ``PacketBatch/packetCapacity`` bytes.
    ///
    /// SAFETY: the mapping never moves and is unmapped with the slab, which every block keeps alive through its
    /// ``PacketSlots``. The slab lends it for reading only because it cannot see that no two blocks share a slot.
    fileprivate borrowing func packetAddress(_ slot: Int) -> UnsafeMutableRawPointer {
        let span = bytes(of: slot, from: 0, count: Self.headRoom + PacketBatch.packetCapacity)
        let bits = unsafe span.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        guard let start = unsafe UnsafeMutableRawPointer(bitPattern: bits) else {
            preconditionFailure("a slab has memory")
        }
        return unsafe start + Self.headRoom
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

    /// What one packet's way through the device came to.
    enum Outcome: Equatable {
        case done
        /// No IP packet, or one that the device should not have handed over.
        case malformed
        /// The device has none, or no room.
        case wouldBlock
        case failed(Int32)
    }

    /// Reads one packet into the slot behind the last one.
    func readPacket(from device: Int32, headerLength: Int) -> Outcome {
        precondition(packetCount < PacketBatch.capacity, "the batch is full")
        let packet = unsafe address(packetCount)
        let start = unsafe packet - headerLength
        let result = unsafe ctun_read(device, start, headerLength + PacketBatch.packetCapacity)
        if result == -Int(EAGAIN) { return .wouldBlock }
        if result < 0 { return .failed(Int32(-result)) }
        // No offload is on, so the kernel fills in checksums and cuts super-packets: a header that says otherwise is of
        // a device that somebody else has set.
        let isWhole =
            unsafe headerLength < 2
            || (start.load(as: UInt8.self) & 1 == 0 && start.load(fromByteOffset: 1, as: UInt8.self) == 0)
        guard isWhole, result > headerLength else { return .malformed }
        lengths[packetCount] = Int32(result - headerLength)
        packetCount += 1
        return .done
    }

    /// Writes one packet with a zeroed device header in front: checksums are complete, nothing is to be cut.
    func writePacket(at index: Int, to device: Int32, headerLength: Int) -> Outcome {
        let length = Int(lengths[index])
        let packet = unsafe address(index)
        let bytes = unsafe RawSpan(_unsafeStart: packet, byteCount: length)
        guard isIPPacket(bytes) else { return .malformed }
        let start = unsafe packet - headerLength
        unsafe start.initializeMemory(as: UInt8.self, repeating: 0, count: headerLength)
        let result = unsafe ctun_write(device, start, headerLength + length)
        switch Int32(-result) {
        case EAGAIN, ENOBUFS: return .wouldBlock
        case let number where number > 0: return .failed(number)
        default: return .done
        }
    }

    /// The length of one packet.
    func length(at index: Int) -> Int { Int(lengths[index]) }

    private func address(_ index: Int) -> UnsafeMutableRawPointer {
        unsafe slots.address(number * PacketBatch.capacity + index)
    }
}

/// Whether version nibble and length field fit the bytes (RFC 791 section 3.1, RFC 8200 section 3).
func isIPPacket(_ packet: RawSpan) -> Bool {
    guard packet.byteCount >= 20 else { return false }
    switch packet.byte(at: 0) >> 4 {
    case 4:
        let header = Int(packet.byte(at: 0) & 15) * 4
        let total = Int(packet.uint16(at: 2))
        return header >= 20 && header <= total && total <= packet.byteCount
    case 6: return packet.byteCount >= 40 && 40 + Int(packet.uint16(at: 4)) <= packet.byteCount
    default: return false
    }
}
