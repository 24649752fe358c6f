/// The packets of the virtual interface, by one of two faces.
///
/// *Batches*: ``readPackets()`` lends a batch of packets where they lie, the provider reads or edits them there, and gives
/// the batch back to ``writePackets(_:)`` or lets it go. Nothing is copied.
///
/// *Descriptor*: ``takeDescriptor()`` hands over the TUN device to an engine that drives it itself. From then on the batch
/// face answers ``PacketFlowError/descriptorTaken``: two readers would steal each other's packets.
public protocol PacketFlow: AnyObject, Sendable {
    /// Waits for packets from the interface and lends them; one batch is outstanding per call.
    ///
    /// - Throws: ``PacketFlowError``; `closed` once the tunnel ends or the task is cancelled, which is how a reading loop
    ///   ends.
    func readPackets() async throws(PacketFlowError) -> PacketBatch

    /// Writes the packets of a batch to the interface and releases it.
    ///
    /// Packets that are no IP packets (version nibble, length) are dropped and counted.
    ///
    /// - Throws: ``PacketFlowError``.
    /// - Returns: How many packets the interface took.
    @discardableResult
    func writePackets(_ batch: consuming PacketBatch) throws(PacketFlowError) -> Int

    /// Lends empty packets to a provider that originates packets.
    ///
    /// - Parameter count: How many packets, at most ``PacketBatch/capacity``.
    /// - Throws: ``PacketFlowError``; `exhausted` while every slot is lent out.
    /// - Returns: A batch whose packets have length 0 and room for ``PacketBatch/packetCapacity`` bytes each.
    func makeBatch(count: Int) throws(PacketFlowError) -> PacketBatch

    /// Hands over the TUN device; at most once.
    ///
    /// - Throws: ``PacketFlowError``; `descriptorTaken` on a second call.
    func takeDescriptor() throws(PacketFlowError) -> TunnelDescriptor
}

/// Why the packet flow refused.
public enum PacketFlowError: Error, Sendable, Equatable {
    /// The tunnel has ended.
    case closed
    /// The descriptor was taken, so packets go by the engine that took it.
    case descriptorTaken
    /// Every slot is lent out: release a batch first.
    case exhausted
    /// A system call failed with this errno.
    case system(Int32)
}

/// The TUN device itself, for engines that drive it.
public struct TunnelDescriptor: Sendable, Equatable {
    /// The non-blocking descriptor; owned by the host, which closes it after the stop has completed.
    public let fileDescriptor: Int32
    /// The length of the virtio_net_hdr in front of every packet, 0 for none.
    public let virtualHeaderLength: Int

    /// Describes an open TUN device.
    public init(fileDescriptor: Int32, virtualHeaderLength: Int) {
        self.fileDescriptor = fileDescriptor
        self.virtualHeaderLength = virtualHeaderLength
    }
}
