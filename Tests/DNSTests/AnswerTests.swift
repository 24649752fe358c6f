import DNS
import Testing

@Suite("Answers of name servers")
struct AnswerTests {
    @Test("An address by a pointer, in another case, of IPv6, and one of several")
    func addresses() throws {
        #expect(Reply.answer(answers: 1, Reply.pointer + Reply.address) == Reply.found)
        var other = Reply.bytes(answers: 1, [2] + Array("Gw".utf8) + [0xc0, 15] + Reply.address)
        other[13] = UInt8(ascii: "G")
        #expect(Reply.answer(other) == Reply.found)
        let text: [UInt8] = [0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, 2, 1, 0x61]
        let two = Reply.pointer + Reply.address.dropLast() + [8]
        #expect(
            Reply.answer(answers: 3, two + text + Reply.pointer + Reply.address)
                == .addresses([[192, 0, 2, 8], [192, 0, 2, 7]]))
        let question = try #require(DNSQuestion("gw.example", .ipv6, identifier: 0x1234))
        let address: [UInt8] = [0x20, 1, 0xd, 0xb8] + Array(repeating: 0, count: 11) + [7]
        var bytes = Reply.bytes(answers: 1, [0xc0, 12, 0, 28, 0, 1, 0, 0, 0, 60, 0, 16] + address)
        bytes[25] = 28
        #expect(question.answer(in: bytes) == .addresses([address]))
        #expect(Reply.answer(bytes) == nil, "to another question")
    }

    @Test("Aliases are followed, in whichever order they come; where they lead nowhere there is no address")
    func aliases() {
        // gw.example is an alias of b.example (at offset 40), which has the address.
        let alias = Reply.pointer + Reply.alias([1, 98, 0xc0, 15])
        #expect(Reply.answer(answers: 2, alias + [0xc0, 40] + Reply.address) == Reply.found)
        let address = [1, 98, 0xc0, 15] + Reply.address
        #expect(Reply.answer(answers: 2, address + Reply.pointer + Reply.alias([0xc0, 28])) == Reply.found)
        #expect(Reply.answer(answers: 1, alias) == Reply.none, "an alias alone")
        #expect(Reply.answer(answers: 1, address) == Reply.none, "the address of another name")
        #expect(Reply.answer(answers: 1, Reply.pointer + Reply.alias(Reply.pointer)) == Reply.none, "of itself")
    }

    @Test("Eight aliases in a row, and not more", arguments: [(8, true), (9, false)])
    func chain(length: UInt8, isFollowed: Bool) {
        func name(_ number: UInt8) -> [UInt8] { number == 0 ? Reply.pointer : [1, 0x40 + number, 0xc0, 15] }
        let aliases = (0..<length).flatMap { name($0) + Reply.alias(name($0 + 1)) }
        let answer = Reply.answer(answers: length + 1, aliases + name(length) + Reply.address)
        #expect(answer == (isFollowed ? Reply.found : Reply.none))
    }

    @Test("No such name, and servers that refuse or fail")
    func refusals() {
        #expect(Reply.answer(flags: 0x8183, answers: 0) == .noSuchName)
        let alias = Reply.pointer + Reply.alias([1, 98, 0xc0, 15])
        #expect(Reply.answer(flags: 0x8183, answers: 1, alias) == .noSuchName, "of an alias (RFC 2308 section 2.1)")
        for code: UInt16 in [1, 2, 4, 5, 15] { #expect(Reply.answer(flags: 0x8180 | code, answers: 0) == .failed) }
    }

    @Test("That there is no address is said by who knows the name or asks others, else it is a referral")
    func absence() {
        #expect(Reply.answer(answers: 0) == Reply.none)
        #expect(Reply.answer(flags: 0x8400, answers: 0) == Reply.none, "authoritative")
        #expect(Reply.answer(flags: 0x8100, answers: 0) == .failed)
        #expect(Reply.answer(flags: 0x8100, answers: 1, Reply.pointer + Reply.address) == Reply.found)
    }

    @Test("Of a truncated answer what is there counts, and what is not there is not known")
    func truncated() {
        #expect(Reply.answer(flags: 0x8380, answers: 1, Reply.pointer + Reply.address) == Reply.found)
        #expect(Reply.answer(flags: 0x8380, answers: 0) == .failed)
        #expect(Reply.answer(answers: 2, Reply.pointer + Reply.address) == Reply.found, "cut off")
        #expect(Reply.answer(answers: 1) == .failed, "cut off")
    }

    @Test("What is no answer, or one to another question")
    func foreign() throws {
        let right = Reply.bytes(answers: 1, Reply.pointer + Reply.address)
        #expect(try Reply.answer(#require(Reply.question).bytes) == nil, "a question")
        // Identifier, opcode, number of questions, name, length of its label, type and class.
        for (offset, value) in [(0, 0), (1, 0x35), (2, 0x91), (5, 2), (13, 0x78), (12, 1), (25, 28), (27, 3)] {
            var other = right
            other[offset] = UInt8(value)
            #expect(Reply.answer(other) == nil, "byte \(offset)")
        }
    }
}
