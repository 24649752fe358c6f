import ProviderKit
import ProviderTestKit
import Testing

/// An IPv4 packet that is header only, told apart by its identification.
private func ipv4(_ mark: UInt8) -> [UInt8] {
    [0x45, 0, 0, 20, 0, mark, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]
}

/// An IPv6 packet that is header only.
private let ipv6: [UInt8] = [0x60, 0, 0, 0, 0, 0, 17, 64] + [UInt8](repeating: 1, count: 32)

@Suite("In-memory packet flow")
struct InMemoryPacketFlowTests {
    @Test("Injected packets are lent in order and may be edited where they lie")
    func readAndWrite() async throws {
        let flow = InMemoryPacketFlow()
        flow.inject(ipv4(1), ipv4(2))
        var batch = try await flow.readPackets()
        #expect(batch.count == 2)
        #expect(flow.lentCount == 2)
        var packet = batch.mutablePacket(at: 1)
        packet.storeBytes(of: 9, toByteOffset: 5, as: UInt8.self)
        #expect(try flow.writePackets(batch) == 2)
        #expect(flow.writtenPackets == [ipv4(1), ipv4(9)])
        #expect(flow.lentCount == 0)
        #expect(await flow.nextWrittenPacket() == ipv4(1))
    }

    @Test("A reader waits until a packet comes")
    func waiting() async throws {
        let flow = InMemoryPacketFlow()
        let reader = Task { try await flow.readPackets().count }
        await Task.yield()
        flow.inject(ipv4(1))
        #expect(try await reader.value == 1)
        #expect(flow.lentCount == 0)
    }

    @Test("A batch holds at most 64 packets")
    func capacity() async throws {
        let flow = InMemoryPacketFlow()
        for mark in 0..<70 { flow.inject(ipv4(UInt8(mark))) }
        let first = try await flow.readPackets().count
        let second = try await flow.readPackets().count
        #expect(first == 64 && second == 6)
    }

    @Test("What is no IP packet is dropped and counted, a length of 0 drops silently")
    func badPackets() async throws {
        let flow = InMemoryPacketFlow()
        flow.inject(
            ipv4(1), ipv6, [0x55] + ipv4(2).dropFirst(), Array(ipv4(3).prefix(19)), Array(ipv6.prefix(39)),
            [0x45, 0, 0, 21] + ipv4(4).dropFirst(4), ipv4(5))
        var batch = try await flow.readPackets()
        batch.setLength(0, at: 6)
        #expect(try flow.writePackets(batch) == 2)
        #expect(flow.writtenPackets == [ipv4(1), ipv6])
        #expect(flow.droppedCount == 4)
    }

    @Test("A provider can originate packets until every slot is lent out")
    func originate() throws {
        let flow = InMemoryPacketFlow(slots: 2)
        var batch = try flow.makeBatch(count: 2)
        #expect(throws: PacketFlowError.exhausted) { _ = try flow.makeBatch(count: 1).count }
        batch.setLength(20, at: 0)
        var packet = batch.mutablePacket(at: 0)
        for (offset, byte) in ipv4(7).enumerated() { packet.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self) }
        #expect(try flow.writePackets(batch) == 1)
        #expect(flow.writtenPackets == [ipv4(7)])
        #expect(throws: Never.self) { _ = try flow.makeBatch(count: 2).count }
        #expect(flow.lentCount == 0)
    }

    @Test("Closing ends a reading loop, and every later call")
    func closing() async {
        let flow = InMemoryPacketFlow()
        let reader = Task { try await flow.readPackets().count }
        await Task.yield()
        flow.close()
        await #expect(throws: PacketFlowError.closed) { try await reader.value }
        await #expect(throws: PacketFlowError.closed) { _ = try await flow.readPackets().count }
        #expect(throws: PacketFlowError.closed) { _ = try flow.makeBatch(count: 1).count }
        #expect(await flow.nextWrittenPacket() == nil)
    }

    @Test("A cancelled reader ends as a closed flow does")
    func cancellation() async {
        let flow = InMemoryPacketFlow()
        for _ in 0..<200 {
            let reader = Task { try await flow.readPackets().count }
            reader.cancel()
            await #expect(throws: PacketFlowError.closed) { try await reader.value }
        }
    }

    @Test("The descriptor is handed over once, and then the batch face is gone")
    func descriptor() async throws {
        let flow = InMemoryPacketFlow(descriptor: TunnelDescriptor(fileDescriptor: 7, virtualHeaderLength: 10))
        #expect(try flow.takeDescriptor().fileDescriptor == 7)
        #expect(throws: PacketFlowError.descriptorTaken) { try flow.takeDescriptor() }
        await #expect(throws: PacketFlowError.descriptorTaken) { _ = try await flow.readPackets().count }
        #expect(throws: PacketFlowError.system(19)) { try InMemoryPacketFlow().takeDescriptor() }
    }
}
