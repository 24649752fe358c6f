/// A token bucket per source under load: 20 handshake messages a second, bursts of 5; IPv6 sources count by /64.
struct RateLimiter {
    /// Sources remembered at once; when they are that many, further ones are refused until some have been idle.
    static let capacity = 65_536

    private var buckets: [SourceNetwork: TokenBucket] = [:]
    private var lastSweep = Instant.zero

    /// The number of sources remembered.
    var count: Int { buckets.count }

    /// Takes a token of the source; false if it has none.
    mutating func allow(_ endpoint: Endpoint, now: Instant) -> Bool {
        let source = SourceNetwork(endpoint)
        if buckets[source] == nil {
            sweep(now)
            guard buckets.count < Self.capacity else { return false }
        }
        return buckets[source, default: TokenBucket(perSecond: 20, burst: 5, now: now)].take(now: now)
    }

    /// Forgets sources that were idle for a second, at most once a second.
    private mutating func sweep(_ now: Instant) {
        guard now - lastSweep >= .seconds(1) else { return }
        lastSweep = now
        buckets = buckets.filter { now - $0.value.updated < .seconds(1) }
    }
}

/// What counts as one source: an IPv4 address, or the /64 that one IPv6 subscriber has at the least.
struct SourceNetwork: Hashable, BitwiseCopyable {
    private let isV6: Bool
    private let network: UInt64

    init(_ endpoint: Endpoint) {
        switch endpoint.address {
        case .v4(let address): (isV6, network) = (false, UInt64(address))
        case .v6(let address): (isV6, network) = (true, UInt64(truncatingIfNeeded: address >> 64))
        }
    }
}
