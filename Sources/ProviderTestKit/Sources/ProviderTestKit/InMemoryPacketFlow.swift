public import ProviderKit
internal import Synchronization

/// A packet flow without an interface: the test injects packets and sees what the provider writes.
public final class InMemoryPacketFlow: PacketFlow {
    private struct State {
        var written: [[UInt8]] = []
        var droppedCount = 0
        var lentCount = 0
        var isClosed = false
        var isDescriptorTaken = false
    }

    private let state = Mutex(State())
    private let incoming = Mailbox<[UInt8]>()
    private let outgoing = Mailbox<[UInt8]>()
    private let slots: Int
    private let descriptor: TunnelDescriptor?

    /// Makes an open flow.
    ///
    /// - Parameters:
    ///   - slots: How many packets may be lent out at a time, before ``makeBatch(count:)`` answers `exhausted`.
    ///   - descriptor: What ``takeDescriptor()`` hands over; nil makes it fail with ENODEV.
    public init(slots: Int = 256, descriptor: TunnelDescriptor? = nil) {
        self.slots = slots
        self.descriptor = descriptor
    }

    // MARK: The test's side

    /// Puts packets on the interface, as if the machine had sent them into the tunnel.
    public func inject(_ packets: [UInt8]...) { incoming.put(packets) }

    /// Waits for the next packet that the provider writes.
    ///
    /// - Returns: The packet, or nil once the flow is closed and every packet was taken.
    public func nextWrittenPacket() async -> [UInt8]? { await outgoing.take(1).first }

    /// All the packets that the provider has written, in order.
    public var writtenPackets: [[UInt8]] { state.withLock { $0.written } }

    /// How many packets were written that are no IP packets, and so dropped.
    public var droppedCount: Int { state.withLock { $0.droppedCount } }

    /// How many packets are lent out and not returned; 0 after a provider has stopped that leaks none.
    public var lentCount: Int { state.withLock { $0.lentCount } }

    /// Ends the flow, as the end of the tunnel does.
    public func close() {
        state.withLock { $0.isClosed = true }
        incoming.close()
        outgoing.close()
    }

    // MARK: The provider's side

    public func readPackets() async throws(PacketFlowError) -> PacketBatch {
        try checkOpen()
        let packets = await incoming.take(PacketBatch.capacity)
        guard !packets.isEmpty else { throw .closed }
        return lend(packets)
    }

    public func writePackets(_ batch: consuming PacketBatch) throws(PacketFlowError) -> Int {
        try checkOpen()
        var packets: [[UInt8]] = []
        for index in 0..<batch.count {
            let packet = batch.packet(at: index)
            if packet.byteCount == 0 { continue }
            packets.append([UInt8](unsafeReading: packet))
        }
        let accepted = packets.filter(Self.isIPPacket)
        state.withLock { state in
            state.written += accepted
            state.droppedCount += packets.count - accepted.count
        }
        outgoing.put(accepted)
        return accepted.count
    }

    public func makeBatch(count: Int) throws(PacketFlowError) -> PacketBatch {
        precondition((1...PacketBatch.capacity).contains(count), "a batch has 1 to 64 packets")
        try checkOpen()
        guard lentCount + count <= slots else { throw .exhausted }
        return lend([[UInt8]](repeating: [], count: count))
    }

    public func takeDescriptor() throws(PacketFlowError) -> TunnelDescriptor {
        try checkOpen()
        guard let descriptor else { throw .system(Self.noSuchDevice) }
        state.withLock { $0.isDescriptorTaken = true }
        incoming.close()
        return descriptor
    }

    /// ENODEV.
    private static let noSuchDevice: Int32 = 19

    private func checkOpen() throws(PacketFlowError) {
        let (isClosed, isTaken) = state.withLock { ($0.isClosed, $0.isDescriptorTaken) }
        if isClosed { throw .closed }
        if isTaken { throw .descriptorTaken }
    }

    private func lend(_ packets: [[UInt8]]) -> PacketBatch {
        let count = packets.count
        state.withLock { $0.lentCount += count }
        return PacketBatch(
            lease: HeapLease(packets: packets) { [self] in state.withLock { $0.lentCount -= count } })
    }

    /// Whether the version nibble and the length field fit the bytes (RFC 791 section 3.1, RFC 8200 section 3).
    private static func isIPPacket(_ packet: [UInt8]) -> Bool {
        switch packet[0] >> 4 {
        case 4: packet.count >= 20 && Int(packet[2]) << 8 | Int(packet[3]) <= packet.count
        case 6: packet.count >= 40 && 40 + (Int(packet[4]) << 8 | Int(packet[5])) <= packet.count
        default: false
        }
    }
}
