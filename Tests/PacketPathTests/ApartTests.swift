import Testing

@testable import PacketPath

@Suite("Packets that must not be joined")
struct ApartTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var first = Sample()
        /// Changes the second packet's fields, which else continue the first.
        var change: @Sendable (inout Sample) -> Void = { _ in }
        /// Changes the bytes of both packets.
        var edit: @Sendable (inout [UInt8]) -> Void = { _ in }
        /// Changes the bytes of the second packet.
        var editSecond: @Sendable (inout [UInt8]) -> Void = { _ in }
    }

    static let options: [UInt8] = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]

    static let cases: [Case] = [
        Case(testDescription: "source port", change: { $0.sourcePort += 1 }),
        Case(testDescription: "destination", change: { $0.destination += 1 }),
        Case(testDescription: "gap", change: { $0.sequence += 1 }),
        Case(testDescription: "repeated", change: { $0.sequence -= 100 }),
        Case(testDescription: "acknowledgement", change: { $0.acknowledgement += 1 }),
        Case(testDescription: "window", change: { $0.window += 1 }),
        Case(testDescription: "urgent pointer", editSecond: { $0.put16(7, 38) }),
        Case(testDescription: "ToS", change: { $0.trafficClass = 1 }),
        Case(testDescription: "TTL", change: { $0.hopLimit -= 1 }),
        Case(testDescription: "DF", change: { $0.dontFragment = false }),
        Case(testDescription: "identification", first: Sample(dontFragment: false), change: { $0.identification += 1 }),
        Case(testDescription: "flow label", first: Sample(v6: true), change: { $0.flowLabel = 1 }),
        Case(testDescription: "hop limit", first: Sample(v6: true), change: { $0.hopLimit -= 1 }),
        Case(testDescription: "traffic class", first: Sample(v6: true), change: { $0.trafficClass = 1 }),
        Case(testDescription: "timestamp", first: Sample(options: options), change: { $0.options[7] = 2 }),
        Case(testDescription: "no options", first: Sample(options: options), change: { $0.options = [] }),
        Case(testDescription: "longer", change: { $0.payload.append(1) }),
        Case(testDescription: "CWR", change: { $0.flags |= 0x80 }),
        Case(testDescription: "ECE", change: { $0.flags |= 0x40 }),
        Case(testDescription: "SYN", change: { $0.flags |= 0x02 }),
        Case(testDescription: "RST", change: { $0.flags |= 0x04 }),
        Case(testDescription: "URG", change: { $0.flags |= 0x20 }),
        Case(testDescription: "after PSH", first: Sample(flags: 0x18)),
        Case(testDescription: "after FIN", first: Sample(flags: 0x11)),
        Case(testDescription: "fragments", edit: { $0.put16(0x2000, 6) }),
        Case(testDescription: "fragment offset", edit: { $0.put16(0x0010, 6) }),
        Case(
            testDescription: "UDP without a checksum", first: Sample(tcp: false), edit: { $0.put16(0, 26) }),
        Case(
            testDescription: "UDP shorter than its packet", first: Sample(tcp: false), edit: { $0.put16(50, 24) }),
        Case(
            testDescription: "UDP identification", first: Sample(tcp: false, dontFragment: false),
            change: { $0.identification += 1 }),
    ]

    static func write(_ test: Case) throws -> (packets: [[UInt8]], written: [[UInt8]]) {
        let pair = PacketPair()
        var path = try ReceivePath(tun: pair.tun, backend: .sodium)
        var first = test.first
        first.payload = [UInt8](repeating: 5, count: 100)
        var second = first
        second.sequence += 100
        second.identification += 1
        second.flags &= ~0x09
        test.change(&second)
        var packets = [first.bytes(), second.bytes()]
        test.edit(&packets[0])
        test.edit(&packets[1])
        test.editSecond(&packets[1])
        CoalescingTests.deliver(&path, packets)
        path.flush()
        return (packets, pair.drain())
    }

    @Test("one field differs and both are written as they came, in order within a flow", arguments: cases)
    func apart(_ test: Case) throws {
        let result = try Self.write(test)
        let written = result.written.map { Array($0[10...]) }
        #expect(Set(written) == Set(result.packets))
        #expect(CoalescingTests.byFlow(written) == CoalescingTests.byFlow(result.packets))
    }

    @Test(
        "without that difference they are joined",
        arguments: [
            Sample(), Sample(v6: true), Sample(tcp: false), Sample(v6: true, tcp: false), Sample(dontFragment: false),
            Sample(options: options), Sample(tcp: false, dontFragment: false), Sample(trafficClass: 1),
        ])
    func joined(_ sample: Sample) throws {
        #expect(try Self.write(Case(testDescription: "same", first: sample)).written.count == 1)
    }
}
