internal import ProviderKit
internal import Synchronization

/// Packets on the heap, each with the room of the largest IP packet.
///
/// SAFETY: `memory` is allocated by `init`, freed by `deinit` and never replaced. Who may touch its bytes is what
/// ``PacketBatch`` decides: its holder alone. The lengths are behind a mutex.
@safe final class HeapLease: PacketLease, @unchecked Sendable {
    private static let stride = PacketBatch.packetCapacity + 1

    private let memory: UnsafeMutableRawBufferPointer
    private let lengths: Mutex<[Int]>
    private let onEnd: @Sendable () -> Void

    /// Copies `packets` into fresh memory.
    init(packets: [[UInt8]], onEnd: @escaping @Sendable () -> Void) {
        unsafe memory = .allocate(byteCount: max(1, packets.count) * Self.stride, alignment: 16)
        lengths = Mutex(packets.map(\.count))
        self.onEnd = onEnd
        for (index, packet) in packets.enumerated() {
            precondition(packet.count <= PacketBatch.packetCapacity, "a packet has 0 to 65,535 bytes")
            unsafe UnsafeMutableRawBufferPointer(rebasing: memory[(index * Self.stride)...]).copyBytes(from: packet)
        }
    }

    deinit { unsafe memory.deallocate() }

    var packetCount: Int { lengths.withLock(\.count) }

    @unsafe func packet(at index: Int) -> UnsafeMutableRawBufferPointer {
        let length = lengths.withLock { $0[index] }
        let start = index * Self.stride
        return unsafe UnsafeMutableRawBufferPointer(rebasing: memory[start..<(start + length)])
    }

    func setLength(_ length: Int, at index: Int) { lengths.withLock { $0[index] = length } }

    func endLease() { onEnd() }
}
