private import Glibc
internal import PacketPath
internal import ProviderKit
internal import Synchronization

/// The packets of a TUN device, in slots that are lent to the provider as whole batches.
///
/// The first use of the batch face hands the device to a ``BatchDevice``; an engine that takes the descriptor negotiates
/// the offloads for itself.
final class TunPacketFlow: PacketFlow {
    /// Packets that were not passed on.
    struct Drops: Equatable {
        /// No IP packets, by version or length, from either side.
        var malformed = 0
        /// Those that the interface did not take: it is down, or had no room.
        var refused = 0
        /// Those of a batch that another flow had lent.
        var foreign = 0
    }

    private enum Face { case untouched, batches, descriptor, closed }

    private struct State {
        var face = Face.untouched
        /// Made by the first use of the batch face, kept for its counters.
        var batches: BatchDevice?
        var foreign = 0
    }

    private let device: Descriptor
    private let headerLength: Int
    private let openDevice: @Sendable (Descriptor) throws(PathError) -> TUNDevice
    private let slots: PacketSlots
    private let readiness: ReadinessThread
    private let state = Mutex(State())

    /// Takes over an open, non-blocking TUN device.
    ///
    /// - Parameters:
    ///   - device: The device; closed with this object.
    ///   - headerLength: The length of the virtio_net_hdr, 0 for none.
    ///   - openDevice: Makes the packet path's device of it, for the batch face.
    /// - Throws: When memory or descriptors are short.
    init(
        device: Descriptor, headerLength: Int,
        openDevice: @escaping @Sendable (Descriptor) throws(PathError) -> TUNDevice = TunPacketFlow.adopt
    ) throws {
        guard (0...32).contains(headerLength) else {
            throw VPNConnectionError(
                .pluginFailed, cause: "A device header of \(headerLength) bytes is none that Linux has.",
                remedy: "Install manager and worker from one build.")
        }
        self.device = device
        self.headerLength = headerLength
        self.openDevice = openDevice
        slots = try PacketSlots()
        readiness = try ReadinessThread(waitingFor: device)
    }

    /// The drops so far.
    var drops: Drops {
        let (batches, foreign) = state.withLock { ($0.batches, $0.foreign) }
        let (malformed, refused) = batches?.drops ?? (0, 0)
        return Drops(malformed: malformed, refused: refused, foreign: foreign)
    }

    // MARK: Batches

    func readPackets() async throws(PacketFlowError) -> PacketBatch {
        while true {
            let batches = try useBatches()
            guard let block = slots.lend(count: 0) else { throw .exhausted }
            // From here on the end of `batch` gives the block back, on whatever way out.
            let batch = PacketBatch(lease: block)
            try batches.fill(block)
            if batch.count > 0 { return batch }
            discard(batch)
            await readiness.wait()
            if Task.isCancelled { throw .closed }
        }
    }

    func writePackets(_ batch: consuming PacketBatch) throws(PacketFlowError) -> Int {
        let batches = try useBatches()
        guard let block = batch.lenderHandle as? PacketBlock, block.slots === slots else {
            state.withLock { $0.foreign += batch.count }
            return 0
        }
        return try batches.write(block)
    }

    func makeBatch(count: Int) throws(PacketFlowError) -> PacketBatch {
        _ = try useBatches()
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

    /// The device of the batch face, if that may be used.
    private func useBatches() throws(PacketFlowError) -> BatchDevice {
        try state.withLock { (state) throws(PacketFlowError) in
            switch state.face {
            case .closed: throw .closed
            case .descriptor: throw .descriptorTaken
            case .untouched, .batches:
                if let batches = state.batches { return batches }
                let batches = try makeBatches()
                state.face = .batches
                state.batches = batches
                return batches
            }
        }
    }

    private func makeBatches() throws(PacketFlowError) -> BatchDevice {
        do throws(PathError) {
            return try BatchDevice(openDevice(device))
        } catch {
            throw .system(error.errno)
        }
    }

    /// The device as the packet path drives it, by a descriptor of its own.
    static func adopt(_ device: Descriptor) throws(PathError) -> TUNDevice {
        try TUNDevice(adopting: fcntl(device.number, F_DUPFD_CLOEXEC, 3))
    }

    private func discard(_ batch: consuming PacketBatch) {}
}
