import Foundation
import PacketPath
import ProviderKit
import Testing

@testable import HostRuntime

@Suite("Packet flow of a device", .timeLimit(.minutes(1))) struct WorkerPacketFlowTests {
    /// Puts a packet, or a super-packet with its virtio header, on the wire.
    static func put(_ packet: [UInt8], header: [UInt8] = noHeader, on wire: Descriptor) throws {
        #expect(try ChannelSystem.send(wire.number, header: header + packet, body: [], descriptors: []))
    }

    /// The next packet from the wire without its virtio header.
    static func take(from wire: Descriptor) throws -> [UInt8]? {
        try takeWhole(from: wire).map { Array($0.dropFirst(noHeader.count)) }
    }

    static func takeWhole(from wire: Descriptor) throws -> [UInt8]? {
        try ChannelSystem.receive(wire.number, capacity: 66_000)?.bytes
    }

    /// A virtio header that says nothing: a whole packet, checksums complete.
    static let noHeader = [UInt8](repeating: 0, count: 10)

    /// An IPv4 packet of `length` bytes whose payload starts with `mark`.
    static func packet(_ mark: UInt8, length: Int = 40) -> [UInt8] {
        var packet = [UInt8](repeating: 0, count: length)
        packet[0] = 0x45
        packet[2] = UInt8(length >> 8)
        packet[3] = UInt8(length & 255)
        packet[20] = mark
        return packet
    }

    /// Inverts the mark of every packet in place, drops the second packet, and writes the batch back.
    static func invertMarks(
        _ batch: consuming PacketBatch, of flow: TunPacketFlow, from expected: inout UInt8
    ) throws -> Int {
        for index in 0..<batch.count {
            let mark = batch.packet(at: index).byte(at: 20)
            #expect(mark == expected)
            expected += 1
            var packet = batch.mutablePacket(at: index)
            packet.setByte(mark ^ 0xff, at: 20)
        }
        batch.setLength(0, at: 1)
        return try flow.writePackets(batch)
    }

    static func mark(of batch: consuming PacketBatch) -> UInt8 { batch.packet(at: 0).byte(at: 20) }

    static func length(of batch: borrowing PacketBatch) -> Int { batch.packet(at: 0).byteCount }

    @Test("Packets are lent in order, 64 at most, and written back from where they lie")
    func readAndWrite() async throws {
        let (flow, wire) = try makePacketFlow()
        defer { flow.close() }
        for mark in 0..<70 as Range<UInt8> { try Self.put(Self.packet(mark), on: wire) }
        var expected: UInt8 = 0
        for count in [64, 6] {
            let taken = try Self.invertMarks(try await flow.readPackets(), of: flow, from: &expected)
            #expect(taken == count - 1)
        }
        var returned: [UInt8] = []
        while let packet = try Self.take(from: wire) { returned.append(packet[20] ^ 0xff) }
        #expect(returned == (0..<70).filter { $0 != 1 && $0 != 65 })
    }

    @Test("A reader waits for the next packet")
    func waits() async throws {
        let (flow, wire) = try makePacketFlow()
        defer { flow.close() }
        for mark in 0..<20 as Range<UInt8> {
            let reader = Task { Self.mark(of: try await flow.readPackets()) }
            try await Task.sleep(for: .milliseconds(mark % 3))
            try Self.put(Self.packet(mark), on: wire)
            #expect(try await reader.value == mark)
        }
    }

    @Test("A waiting reader ends with closed when the flow closes, its task is cancelled, or the descriptor is taken")
    func endsOfWaiting() async throws {
        for end in 0..<3 {
            let (flow, wire) = try makePacketFlow()
            // Closing the far end would be the end of the device.
            defer { withExtendedLifetime(wire) {} }
            let reader = Task { () -> PacketFlowError? in
                do {
                    _ = try await flow.readPackets()
                    return nil
                } catch { return error as? PacketFlowError }
            }
            try await Task.sleep(for: .milliseconds(20))
            switch end {
            case 0: flow.close()
            case 1: reader.cancel()
            default: _ = try flow.takeDescriptor()
            }
            #expect(await reader.value == (end == 2 ? .descriptorTaken : .closed))
            flow.close()
            #expect(throws: PacketFlowError.closed) { _ = try flow.makeBatch(count: 1) }
        }
    }

    @Test("The descriptor is handed over once, and ends the batch face")
    func descriptor() throws {
        let (flow, _) = try makePacketFlow()
        #expect(try flow.takeDescriptor().virtualHeaderLength == 10)
        #expect(throws: PacketFlowError.descriptorTaken) { try flow.takeDescriptor() }
        #expect(throws: PacketFlowError.descriptorTaken) { _ = try flow.makeBatch(count: 1) }
    }

    @Test(
        "What is no IP packet is dropped and counted",
        arguments: [
            ([], 0), ([0x45], 1), ([UInt8](repeating: 0, count: 40), 1), ([0x46] + [UInt8](repeating: 0, count: 39), 1),
            (Array(packet(1, length: 60).prefix(59)), 1), ([0x60] + [UInt8](repeating: 0, count: 38), 1),
            ([0x60, 0, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 34), 1), (packet(1), 0),
            ([0x60] + [UInt8](repeating: 0, count: 39), 0),
        ] as [([UInt8], Int)])
    func malformed(bytes: [UInt8], dropped: Int) throws {
        let (flow, wire) = try makePacketFlow()
        var batch = try flow.makeBatch(count: 1)
        batch.setLength(bytes.count, at: 0)
        var packet = batch.mutablePacket(at: 0)
        for (offset, byte) in bytes.enumerated() { packet.setByte(byte, at: offset) }
        let taken = try flow.writePackets(batch)
        #expect(taken == (bytes.isEmpty || dropped > 0 ? 0 : 1))
        #expect(flow.drops == TunPacketFlow.Drops(malformed: dropped))
        #expect(try Self.take(from: wire) == (bytes.isEmpty || dropped > 0 ? nil : bytes))
    }

    /// A TCP packet from 10.99.0.1 to 10.99.0.2 with its checksums, of which `segments` times 1,000 bytes are payload.
    static func tcp(sequence: Int, segments: Int, identification: Int) -> [UInt8] {
        let payload = (0..<segments * 1000).map { UInt8(truncatingIfNeeded: ($0 + sequence) / 7) }
        let words = { (value: Int) in Loopback.word(value >> 16) + Loopback.word(value & 0xffff) }
        let message =
            Loopback.word(4000) + Loopback.word(5000) + words(sequence) + words(1) + [0x50, 0x10] + Loopback.word(512)
            + [0, 0, 0, 0] + payload
        var packet = Loopback.packet(
            from: Loopback.near4, to: Loopback.far4, protocol: 6, message, checksumAt: 16)
        packet[4...5] = ArraySlice(Loopback.word(identification))
        packet[10...11] = [0, 0]
        packet[10...11] = ArraySlice(Loopback.word(Int(Loopback.checksum(Array(packet[..<20])))))
        return packet
    }

    private typealias Loopback = WorkerLoopbackTests

    @Test("A super-packet is lent as complete packets, and what continues each other is written as one")
    func superPackets() async throws {
        let (flow, wire) = try makePacketFlow(offloads: [.checksum, .tso4, .tso6])
        defer { flow.close() }
        // virtio_net_hdr: NEEDS_CSUM, TCPv4, header length, segment size, where the checksum starts and is.
        let header: [UInt8] = [1, 1, 40, 0, 0xe8, 3, 20, 0, 16, 0]
        var whole = Self.tcp(sequence: 100, segments: 5, identification: 9)
        // The kernel leaves the sum of the pseudo header in the place of the checksum.
        let pseudo = Loopback.near4 + Loopback.far4 + [0, 6] + Loopback.word(whole.count - 20)
        whole[36...37] = ArraySlice(Loopback.word(Int(~Loopback.checksum(pseudo))))
        try Self.put(whole, header: header, on: wire)

        let batch = try await flow.readPackets()
        let packets = Self.packets(of: batch)
        #expect(packets == (0..<5).map { Self.tcp(sequence: 100 + $0 * 1000, segments: 1, identification: 9 + $0) })
        let taken = try flow.writePackets(batch)
        #expect(taken == 5)
        #expect(try Self.takeWhole(from: wire) == header + whole)
        #expect(try Self.take(from: wire) == nil)
    }

    @Test("A packet with a wrong checksum is joined to nothing and stays wrong", arguments: [11, 36, 500])
    func wrongChecksum(place: Int) throws {
        let (flow, wire) = try makePacketFlow(offloads: [.checksum, .tso4, .tso6])
        defer { flow.close() }
        var packets = (0..<3).map { Self.tcp(sequence: 100 + $0 * 1000, segments: 1, identification: 9 + $0) }
        packets[1][place] ^= 0x10
        var batch = try flow.makeBatch(count: 3)
        for (index, packet) in packets.enumerated() {
            batch.setLength(packet.count, at: index)
            var span = batch.mutablePacket(at: index)
            for (offset, byte) in packet.enumerated() { span.setByte(byte, at: offset) }
        }
        let taken = try flow.writePackets(batch)
        #expect(taken == 3)
        for packet in packets { #expect(try Self.takeWhole(from: wire) == Self.noHeader + packet) }
    }

    static func packets(of batch: borrowing PacketBatch) -> [[UInt8]] {
        (0..<batch.count).map { index in
            let packet = batch.packet(at: index)
            return packet.byteOffsets.map { packet.byte(at: $0) }
        }
    }

    @Test("The largest packet fits")
    func largest() async throws {
        let (flow, wire) = try makePacketFlow()
        let packet = Self.packet(9, length: 65_535)
        try Self.put(packet, on: wire)
        let batch = try await flow.readPackets()
        let length = Self.length(of: batch)
        #expect(length == 65_535)
        let taken = try flow.writePackets(batch)
        #expect(taken == 1)
        #expect(try Self.take(from: wire) == packet)
    }

    @Test("Every block that is lent out and kept is missing; every one that ends is there again")
    func exhaustion() throws {
        let (flow, _) = try makePacketFlow()
        func borrow(_ depth: Int) throws {
            guard depth > 0 else {
                #expect(throws: PacketFlowError.exhausted) { _ = try flow.makeBatch(count: 1) }
                return
            }
            let batch = try flow.makeBatch(count: 64)
            try borrow(depth - 1)
            _ = consume batch
        }
        try borrow(PacketSlots.blockCount)
        try borrow(PacketSlots.blockCount)
    }

    @Test("A batch of another flow is dropped and counted, not written")
    func foreignBatch() throws {
        let (flow, wire) = try makePacketFlow()
        let (other, _) = try makePacketFlow()
        let batch = try other.makeBatch(count: 3)
        let taken = try flow.writePackets(batch)
        #expect(taken == 0)
        #expect(flow.drops == TunPacketFlow.Drops(foreign: 3))
        #expect(try Self.take(from: wire) == nil)
    }

    @Test("A device without room drops after a moment and does not hang")
    func noRoom() throws {
        let (flow, _) = try makePacketFlow()
        var refused = 0
        for _ in 0..<20 where refused == 0 {
            var batch = try flow.makeBatch(count: 64)
            for index in 0..<64 {
                batch.setLength(1500, at: index)
                var packet = batch.mutablePacket(at: index)
                for (offset, byte) in Self.packet(1, length: 1500).enumerated() { packet.setByte(byte, at: offset) }
            }
            let taken = try flow.writePackets(batch)
            refused = flow.drops.refused
            #expect(taken + refused == 64 || refused == 0)
        }
        #expect(refused > 0)
    }
}
