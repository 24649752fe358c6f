import DNS
import TestSupport
import Testing

@Suite("Answers that lie about themselves")
struct HostileTests {
    @Test("Whatever is cut off, nothing is read that is not there")
    func cut() {
        let right = Reply.bytes(answers: 1, Reply.pointer + Reply.address)
        for count in right.indices {
            #expect(Reply.answer(Array(right[..<count])) == (count < 28 ? nil : .failed), "\(count) bytes")
        }
    }

    @Test(
        "Names that lead to themselves, forwards, into the header or out of the message",
        arguments: [
            [0xc0, 28], [1, 0x61, 0xc0, 28], [0xc0, 40], [0xff, 0xff], [0xc0], [0xc0, 0], [0xc0, 11],
            [63, 1], [0x40, 1], [0x80],
        ] as [[UInt8]])
    func names(name: [UInt8]) {
        #expect(Reply.answer(answers: 1, name + Reply.address) == .failed)
    }

    @Test("Pointers in a circle, and names that grow beyond what a name can have")
    func growth() {
        // The name at offset 28 goes on in the alias at 40, and that goes on at 28 or in itself.
        #expect(Reply.answer(answers: 1, [0xc0, 40] + Reply.alias([1, 0x61, 0xc0, 28])) == .failed)
        #expect(Reply.answer(answers: 1, Reply.pointer + Reply.alias([1, 0x61, 0xc0, 40])) == .failed)
        // Each name is a label of 63 bytes and the name before it: the fourth is too long.
        var records: [UInt8] = []
        var previous: UInt16 = 0xc00c
        for count: UInt8 in 1...4 {
            let offset = UInt16(28 + records.count)
            records += [63] + Array(repeating: 0x78, count: 63) + [UInt8(previous >> 8), UInt8(previous & 255)]
            records += Reply.address
            previous = 0xc000 | offset
            #expect(Reply.answer(answers: count, records) == (count < 4 ? Reply.none : .failed), "\(count)")
        }
    }

    @Test("Records whose length is beyond the message, or not that of an address")
    func lengths() {
        let long: [UInt8] = [0, 1, 0, 1, 0, 0, 0, 60, 0xff, 0xff, 1]
        #expect(Reply.answer(answers: 1, Reply.pointer + long) == .failed)
        let wide: [UInt8] = [0, 1, 0, 1, 0, 0, 0, 60, 0, 5, 1, 2, 3, 4, 5]
        #expect(Reply.answer(answers: 1, Reply.pointer + wide) == .failed)
        #expect(Reply.answer(answers: 1, Reply.pointer + [0, 5, 0, 1, 0, 0, 0, 60, 0, 1, 1, 98, 0]) == .failed)
    }

    @Test("Turned bytes never make an address of another length")
    func turned() {
        let right = Reply.bytes(
            answers: 2, Reply.pointer + Reply.alias([1, 98, 0xc0, 15]) + [0xc0, 40] + Reply.address)
        var random = SplitMix(state: 53)
        for _ in 0..<20_000 {
            var bytes = right
            for _ in 0..<3 { bytes[random.next(bytes.count)] = UInt8(truncatingIfNeeded: random.next()) }
            guard case .addresses(let addresses)? = Reply.answer(bytes) else { continue }
            #expect(addresses.allSatisfy { $0.count == 4 })
        }
    }
}
