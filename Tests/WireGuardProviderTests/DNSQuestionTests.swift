import Testing
import WireGuard

@testable import WireGuardProvider

/// Questions to name servers, byte by byte, and answers that are right, wrong and hostile.
@Suite("Questions to name servers")
struct DNSQuestionTests {
    private let question = DNSQuestion("GW.example.", .ipv4, identifier: 0x1234)

    /// A header with flags and the number of answers, and the question that is asked.
    private func reply(flags: UInt16 = 0x8180, answers: UInt8, identifier: UInt8 = 0x34, _ records: [UInt8] = [])
        -> [UInt8]
    {
        let header: [UInt8] = [
            0x12, identifier, UInt8(flags >> 8), UInt8(flags & 255), 0, 1, 0, answers, 0, 0, 0, 0,
        ]
        let tail: [UInt8] = [0, 1, 0, 1]
        return header + gateway + tail + records
    }

    /// gw.example, at offset 12.
    private let gateway: [UInt8] = [2] + Array("gw".utf8) + [7] + Array("example".utf8) + [0]
    /// A, IN, 60 s, 4 bytes: 192.0.2.7.
    private let address: [UInt8] = [0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7]

    @Test("A question has one name in lower case, and desires recursion")
    func bytes() throws {
        let question = try #require(question)
        #expect(question.bytes == [0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0] + gateway + [0, 1, 0, 1])
        let ipv6 = try #require(DNSQuestion("gw.example", .ipv6, identifier: 1))
        #expect(ipv6.bytes.suffix(4) == [0, 28, 0, 1])
    }

    @Test(
        "Names that DNS cannot carry are no question",
        arguments: [
            "", ".", "a..b", ".a", String(repeating: "x", count: 64),
            Array(repeating: String(repeating: "y", count: 62), count: 5).joined(separator: "."),
        ])
    func badNames(name: String) { #expect(DNSQuestion(name, .ipv4, identifier: 1) == nil) }

    @Test("An answer by a pointer, one behind an alias, and one of another name")
    func answers() throws {
        let question = try #require(question)
        #expect(question.answer(in: reply(answers: 1, [0xc0, 12] + address)) == .addresses([.v4(0xc000_0207)]))
        // gw.example is an alias of b.example (at offset 40, its tail at 15), which has the address.
        let alias: [UInt8] = [0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 60, 0, 4, 1, 98, 0xc0, 15]
        #expect(question.answer(in: reply(answers: 2, alias + [0xc0, 40] + address)) == .addresses([.v4(0xc000_0207)]))
        #expect(question.answer(in: reply(answers: 1, [1, 99, 0xc0, 15] + address)) == .addresses([]))
        let loop: [UInt8] = [0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 60, 0, 2, 0xc0, 12]
        #expect(question.answer(in: reply(answers: 1, loop)) == .addresses([]))
    }

    @Test("No such name, a server that fails, and what is no answer at all")
    func refusals() throws {
        let question = try #require(question)
        #expect(question.answer(in: reply(flags: 0x8183, answers: 0)) == .noSuchName)
        #expect(question.answer(in: reply(flags: 0x8182, answers: 0)) == .failed)
        #expect(question.answer(in: reply(flags: 0x8185, answers: 0)) == .failed)
        let right = reply(answers: 1, [0xc0, 12] + address)
        #expect(question.answer(in: question.bytes) == nil, "a question")
        #expect(question.answer(in: reply(answers: 1, identifier: 0x35, [0xc0, 12] + address)) == nil)
        var other = right
        other[13] = UInt8(ascii: "x")
        #expect(question.answer(in: other) == nil, "another name")
        other = right
        other[25] = 28
        #expect(question.answer(in: other) == nil, "another type")
    }

    @Test("Whatever is cut off or turned, nothing is read that is not there")
    func hostile() throws {
        let question = try #require(question)
        let right = reply(answers: 1, [0xc0, 12] + address)
        for count in right.indices {
            let answer = question.answer(in: Array(right[..<count]))
            #expect(answer == nil || answer == .addresses([]))
        }
        // Pointers to themselves, forwards, out of the message, and lengths beyond it.
        let names: [[UInt8]] = [[0xc0, 28], [0xc0, 40], [0xff, 0xff], [0xc0], [63, 1], [0x40, 1], [0x80]]
        for name in names { #expect(question.answer(in: reply(answers: 1, name + address)) == .addresses([])) }
        let long: [UInt8] = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0xff, 0xff, 1]
        #expect(question.answer(in: reply(answers: 1, long)) == .addresses([]))
        let wide: [UInt8] = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 5, 1, 2, 3, 4, 5]
        #expect(question.answer(in: reply(answers: 1, wide)) == .addresses([]))
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            var bytes = right
            for _ in 0..<3 { bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255) }
            _ = question.answer(in: bytes)
        }
    }

    @Test("The machine's files: outside servers first, those inside of the tunnel never, at most four")
    func files() throws {
        func addresses(_ texts: String...) throws -> [IPAddress] { try texts.map { try #require(IPAddress($0)) } }
        var files = NameFiles(
            hosts: "127.0.0.1 localhost\n192.0.2.9\tGW.example gw # the gateway\n2001:db8::9 gw.example\n",
            current: "# x\nsearch a\nnameserver 127.0.0.53\nnameserver fe80::1%eth0\nnameserver\n")
        #expect(try files.servers(except: []) == addresses("127.0.0.53"))
        files.uplink = "nameserver 192.0.2.1\nnameserver 10.7.0.1\n"
        #expect(try files.servers(except: addresses("10.7.0.1")) == addresses("192.0.2.1", "127.0.0.53"))
        files.kept = "nameserver 198.51.100.1\nnameserver\t198.51.100.1\n"
        #expect(try files.servers(except: []) == addresses("198.51.100.1", "192.0.2.1", "10.7.0.1"))
        files.kept = (1...9).map { "nameserver 198.51.100.\($0)" }.joined(separator: "\n")
        #expect(files.servers(except: []).count == 4)
        #expect(try files.addresses(of: "gw.EXAMPLE") == addresses("192.0.2.9", "2001:db8::9"))
        #expect(files.addresses(of: "the") == [] && files.addresses(of: "192.0.2.9") == [])
    }
}
