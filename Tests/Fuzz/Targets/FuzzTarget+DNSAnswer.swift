import OnDemand

/// What comes back from a DNS server, or from whoever pretends to be it.
extension FuzzTarget {
    /// An answer is one to the question that was asked.
    static func runDNSAnswer(_ bytes: [UInt8]) -> Bool {
        guard let question = DNSQuestion("a.example", .ipv4, identifier: 0x1234) else { return false }
        let answer = question.answer(in: bytes)
        guard answer != .foreign else { return false }
        precondition(bytes.count >= question.bytes.count, "an answer without its question")
        precondition(bytes.prefix(2).elementsEqual(question.bytes.prefix(2)), "an answer to another question")
        return answer == .found
    }
}
