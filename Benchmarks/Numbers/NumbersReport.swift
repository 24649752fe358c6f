/// What a sender of numbered datagrams did.
struct NumbersSent: Codable, Equatable {
    var sent = 0
    /// Attempts that the kernel refused; their number goes out with the next attempt.
    var refused = 0
    var seconds: Double = 0
}

/// What a receiver of numbered datagrams saw.
struct NumbersReceived: Codable, Equatable {
    var received = 0
    /// Numbers before the highest that did not come in their turn.
    var missing = 0
    /// Datagrams that came after a higher number: late ones and repetitions.
    var late = 0
    /// The number that is next in turn.
    private(set) var next = 0

    /// Takes the number of a datagram.
    mutating func take(_ number: Int) {
        received += 1
        guard number >= next else {
            late += 1
            return
        }
        missing += number - next
        next = number + 1
    }
}
