import DNS

/// Answers to the question for the IPv4 address of gw.example, byte by byte.
enum Reply {
    /// gw.example, at offset 12; `example` is at offset 15, and what follows the question at 28.
    static let gateway: [UInt8] = [2] + Array("gw".utf8) + [7] + Array("example".utf8) + [0]
    static let pointer: [UInt8] = [0xc0, 12]
    /// A, IN, 60 s, 4 bytes: 192.0.2.7.
    static let address: [UInt8] = [0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7]
    static let found = DNSAnswer.addresses([[192, 0, 2, 7]])
    static let none = DNSAnswer.addresses([])

    static let question: DNSQuestion? = DNSQuestion("GW.example.", .ipv4, identifier: 0x1234)

    /// A header with flags (a response, recursion desired and available) and the number of answers, the question, records.
    static func bytes(flags: UInt16 = 0x8180, answers: UInt8, _ records: [UInt8] = []) -> [UInt8] {
        let header: [UInt8] = [0x12, 0x34, UInt8(flags >> 8), UInt8(flags & 255), 0, 1, 0, answers, 0, 0, 0, 0]
        let tail: [UInt8] = [0, 1, 0, 1]
        return header + gateway + tail + records
    }

    /// CNAME, IN, 60 s, and the name that is meant.
    static func alias(_ target: [UInt8]) -> [UInt8] { [0, 5, 0, 1, 0, 0, 0, 60, 0, UInt8(target.count)] + target }

    /// What the bytes answer to the question.
    static func answer(_ bytes: [UInt8]) -> DNSAnswer? { question?.answer(in: bytes) }

    static func answer(flags: UInt16 = 0x8180, answers: UInt8, _ records: [UInt8] = []) -> DNSAnswer? {
        answer(bytes(flags: flags, answers: answers, records))
    }
}
