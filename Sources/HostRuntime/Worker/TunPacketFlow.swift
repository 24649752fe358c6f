internal import CTun
private import Glibc
internal import ProviderKit
internal import Synchronization

/// The packets of a TUN device, read into and written from slots without a copy.
///
/// The batch face turns every offload off: the kernel completes checksums and cuts large packets. A batch is filled by
/// ``PacketBlock/readPacket(from:headerLength:)`` alone, so taking super-packets and cutting them into slots stays
/// inside it.
final class TunPacketFlow: PacketFlow {
    /// Packets that were not passed on.
    struct Drops: Equatable {
        /// No IP packets, by version or length, from either side.
        var malformed = 0
        /// Those that the interface did not take: it is down, or had no room for a millisecond.
        var refused = 0
        /// Those of a batch that another flow had lent.
        var foreign = 0
    }

    private enum Face { case untouched, batches, descriptor, closed }

    private struct State {
        var face = Face.untouched
        var drops = Drops()
    }

    private let device: Descriptor
    private let headerLength: Int
    private let slots: PacketSlots
    private let readiness: ReadinessThread
    private let state = Mutex(State())

    /// Takes over an open, non-blocking TUN device.
    ///
    /// - Parameters:
    ///   - device: The device; closed with this object.
    ///   - headerLength: The length of the virtio_net_hdr, 0 for none.
    /// - Throws: When memory or descriptors are short.
    init(device: Descriptor, headerLength: Int) throws {
        guard (0...32).contains(headerLength) else {
            throw VPNConnectionError(
                .pluginFailed, cause: "A device header of \(headerLength) bytes is none that Linux has.",
                remedy: "Install manager and worker from one build.")
        }
        self.device = device
        self.headerLength = headerLength
        slots = try PacketSlots()
        readiness = try ReadinessThread(waitingFor: device)
    }

    /// The drops so far.
    var drops: Drops { state.withLock { $0.drops } }

    // MARK: Batches

    func readPackets() async throws(PacketFlowError) -> PacketBatch {
        while true {
            try useBatches()
            guard let block = slots.lend(count: 0) else { throw .exhausted }
            // From here on the end of `batch` gives the block back, on whatever way out.
            let batch = PacketBatch(lease: block)
            try fill(block)
            if batch.count > 0 { return batch }
            discard(batch)
            await readiness.wait()
            if Task.isCancelled { throw .closed }
        }
    }

    func writePackets(_ batch: consuming PacketBatch) throws(PacketFlowError) -> Int {
        try useBatches()
        guard let block = batch.lenderHandle as? PacketBlock, block.slots === slots else {
            state.withLock { $0.drops.foreign += batch.count }
            return 0
        }
        var drops = Drops()
        defer { add(drops) }
        var taken = 0
        for index in 0..<block.packetCount where block.length(at: index) > 0 {
            var outcome = block.writePacket(at: index, to: device.number, headerLength: headerLength)
            if outcome == .wouldBlock {
                waitForRoom()
                outcome = block.writePacket(at: index, to: device.number, headerLength: headerLength)
            }
            switch outcome {
            case .done: taken += 1
            case .malformed: drops.malformed += 1
            case .failed(let number) where Self.isGone(number): throw .system(number)
            case .wouldBlock, .failed: drops.refused += 1
            }
        }
        return taken
    }

    func makeBatch(count: Int) throws(PacketFlowError) -> PacketBatch {
        try useBatches()
        guard let block = slots.lend(count: count) else { throw .exhausted }
        return PacketBatch(lease: block)
    }

    // MARK: Descriptor

    func takeDescriptor() throws(PacketFlowError) -> TunnelDescriptor {
        try state.withLock { (state) throws(PacketFlowError) in
            switch state.face {
            case .closed: throw .closed
            case .descriptor: throw .descriptorTaken
            case .untouched, .batches: state.face = .descriptor
            }
        }
        readiness.wakeAll()
        return TunnelDescriptor(fileDescriptor: device.number, virtualHeaderLength: headerLength)
    }

    /// Ends both faces; a reader that waits is told `closed`.
    func close() {
        state.withLock { $0.face = .closed }
        readiness.close()
    }

    // MARK: Inside

    /// Checks that the batch face may be used, and prepares the device for it once.
    private func useBatches() throws(PacketFlowError) {
        try state.withLock { (state) throws(PacketFlowError) in
            switch state.face {
            case .closed: throw .closed
            case .descriptor: throw .descriptorTaken
            case .batches: return
            case .untouched:
                if headerLength > 0 {
                    let result = ctun_tun_set_offload(device.number, 0)
                    if result < 0 { throw .system(-result) }
                }
                state.face = .batches
            }
        }
    }

    private func fill(_ block: PacketBlock) throws(PacketFlowError) {
        var malformed = 0
        defer { if malformed > 0 { add(Drops(malformed: malformed)) } }
        // Bounded also when every packet is dropped.
        for _ in 0..<PacketBatch.capacity {
            switch block.readPacket(from: device.number, headerLength: headerLength) {
            case .done: break
            case .malformed: malformed += 1
            case .wouldBlock: return
            case .failed(let number):
                if block.packetCount > 0 { return }
                throw .system(number)
            }
        }
    }

    private func discard(_ batch: consuming PacketBatch) {}

    /// Waits until the device is writable, for a millisecond at most: what then still has no room is dropped.
    private func waitForRoom() { _ = try? ChannelSystem.wait(device.number, events: Int16(POLLOUT), milliseconds: 1) }

    private func add(_ drops: Drops) {
        state.withLock { state in
            state.drops.malformed += drops.malformed
            state.drops.refused += drops.refused
            state.drops.foreign += drops.foreign
        }
    }

    /// Whether the interface was deleted or the descriptor is none.
    private static func isGone(_ number: Int32) -> Bool { number == EBADFD || number == EBADF || number == ENODEV }
}
