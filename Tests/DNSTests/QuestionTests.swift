import DNS
import Testing

@Suite("Questions to name servers")
struct QuestionTests {
    @Test("A question has one name in lower case, and desires recursion")
    func bytes() throws {
        let expected: [UInt8] =
            [0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]  // identifier, recursion desired, one question
            + [1, 0x61, 7, 0x65, 0x78, 0x61, 0x6d, 0x70, 0x6c, 0x65, 0]  // a.example
            + [0, 1, 0, 1]  // A, IN
        #expect(try #require(DNSQuestion("a.Example", .ipv4, identifier: 0x1234)).bytes == expected)
        #expect(try #require(DNSQuestion("A.example.", .ipv4, identifier: 0x1234)).bytes == expected)
        #expect(try #require(DNSQuestion("a.example", .ipv6, identifier: 0)).bytes.suffix(4) == [0, 28, 0, 1])
    }

    @Test(
        "Names that DNS cannot carry are no question",
        arguments: [
            "", ".", "a..b", ".a", "a..", String(repeating: "x", count: 64), String(repeating: "a.", count: 127) + "a",
            String(repeating: "a.", count: 126) + "bc",
        ])
    func badNames(name: String) {
        #expect(DNSName(name) == nil)
        #expect(DNSQuestion(name, .ipv4, identifier: 1) == nil)
    }

    @Test("The longest names are one", arguments: [".", ""])
    func longNames(end: String) throws {
        // 127 labels, and four that are as long as labels can be: 255 bytes each.
        let labels = [63, 63, 63, 61].map { String(repeating: "x", count: $0) }
        for name in [String(repeating: "a.", count: 126) + "b", labels.joined(separator: ".")] {
            #expect(try #require(DNSName(name + end)).bytes.count == 255)
        }
    }

    @Test("Names are the same whatever the case of their letters, and of nothing else")
    func names() throws {
        #expect(DNSName("GW.Example") == DNSName("gw.eXAMPLE."))
        #expect(DNSName("a[z.example") != DNSName("a{z.example"))
    }
}
