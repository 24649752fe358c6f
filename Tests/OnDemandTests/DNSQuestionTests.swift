import OnDemand
import Testing

@Suite("Questions to DNS servers")
struct DNSQuestionTests {
    private func question(_ name: String = "a.Example") throws -> DNSQuestion {
        try #require(DNSQuestion(name, .ipv4, identifier: 0x1234))
    }

    /// An answer with this code and so many records, to the question itself unless changed.
    private func answer(
        _ question: DNSQuestion, code: UInt8 = 0, answers: UInt8 = 1, change: (inout [UInt8]) -> Void = { _ in }
    ) -> DNSQuestion.Answer {
        var bytes = question.bytes
        bytes[2] = 0x81
        bytes[3] = 0x80 | code
        bytes[7] = answers
        change(&bytes)
        return question.answer(in: bytes)
    }

    @Test("has the bytes of RFC 1035")
    func bytes() throws {
        let expected: [UInt8] =
            [0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]  // identifier, recursion desired, one question
            + [1, 0x61, 7, 0x65, 0x78, 0x61, 0x6d, 0x70, 0x6c, 0x65, 0]  // a.example
            + [0, 1, 0, 1]  // A, IN
        #expect(try question().bytes == expected)
        #expect(try #require(DNSQuestion("a.example.", .ipv6, identifier: 0)).bytes.suffix(4) == [0, 28, 0, 1])
    }

    @Test(
        "is not made of what is no name",
        arguments: ["", ".", "a..b", String(repeating: "a", count: 64), String(repeating: "a.", count: 127) + "a"])
    func noName(name: String) {
        #expect(DNSQuestion(name, .ipv4, identifier: 1) == nil)
    }

    @Test("takes an answer to itself only")
    func answers() throws {
        let question = try self.question()
        #expect(answer(question) == .found)
        #expect(answer(question) { $0[13] = 0x41 } == .found, "in another case")
        #expect(answer(question, code: 3) == .notFound)
        #expect(answer(question, code: 2) == .notFound)
        #expect(answer(question, answers: 0) == .notFound)
        #expect(answer(question) { $0[0] = 0 } == .foreign)
        #expect(answer(question) { $0[13] = 0x62 } == .foreign)
        #expect(answer(question) { $0[2] = 1 } == .foreign, "a question")
        for length in 0..<question.bytes.count {
            #expect(question.answer(in: Array(question.bytes.prefix(length))) == .foreign)
        }
    }
}
