import DNS

/// What comes back from a DNS server, or from whoever pretends to be it.
extension FuzzTarget {
    /// An answer is one to the question that was asked, and its addresses are of the type that was asked for.
    static func runDNSAnswer(_ bytes: [UInt8]) -> Bool {
        readDNSName(bytes)
        return DNSQuestion.AddressType.allCases.contains { type in
            guard let question = DNSQuestion("a.example", type, identifier: 0x1234),
                let answer = question.answer(in: bytes)
            else { return false }
            precondition(bytes.count >= question.bytes.count, "an answer without its question")
            precondition(bytes.prefix(2).elementsEqual(question.bytes.prefix(2)), "an answer to another question")
            guard case .addresses(let addresses) = answer else { return false }
            precondition(addresses.allSatisfy { $0.count == type.length }, "an address of another type")
            precondition(addresses.count * (type.length + 11) <= bytes.count, "an address out of nothing")
            return !addresses.isEmpty
        }
    }

    /// A name that DNS can carry is read as it was written.
    private static func readDNSName(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let question = DNSQuestion(text, .ipv6, identifier: 1) else { return }
        var empty = question.bytes
        precondition(empty.count <= 12 + 255 + 4, "a name is too long")
        (empty[2], empty[3]) = (0x81, 0x80)
        precondition(question.answer(in: empty) == .addresses([]), "a name does not survive being written")
    }
}
