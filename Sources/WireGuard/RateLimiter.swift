/// A token bucket per source under load: 20 handshake messages a second, bursts of 5; IPv6 sources count by /64.
struct RateLimiter {
    private struct Source: Hashable {
        let isV6: Bool
        let network: UInt64
    }

    private struct Bucket {
        var tokens: UInt64
        var updated: Instant
    }

    static let costNanoseconds: UInt64 = 1_000_000_000 / 20
    static let burst: UInt64 = 5
    /// Sources remembered at once; when they are that many, further ones are refused until some have been idle.
    static let capacity = 65_536

    private var buckets: [Source: Bucket] = [:]
    private var lastSweep = Instant.zero

    /// The number of sources remembered.
    var count: Int { buckets.count }

    /// Takes a token of the source; false if it has none.
    mutating func allow(_ endpoint: Endpoint, now: Instant) -> Bool {
        let source =
            switch endpoint.address {
            case .v4(let address): Source(isV6: false, network: UInt64(address))
            case .v6(let address): Source(isV6: true, network: UInt64(truncatingIfNeeded: address >> 64))
            }
        let full = Self.costNanoseconds * Self.burst
        guard let bucket = buckets[source] else {
            sweep(now)
            guard buckets.count < Self.capacity else { return false }
            buckets[source] = Bucket(tokens: full - Self.costNanoseconds, updated: now)
            return true
        }
        var tokens = min(full, bucket.tokens + min(full, (now - bucket.updated).nanoseconds))
        let isAllowed = tokens >= Self.costNanoseconds
        if isAllowed { tokens -= Self.costNanoseconds }
        buckets[source] = Bucket(tokens: tokens, updated: now)
        return isAllowed
    }

    /// Forgets sources that were idle for a second, at most once a second.
    private mutating func sweep(_ now: Instant) {
        guard now - lastSweep >= .seconds(1) else { return }
        lastSweep = now
        buckets = buckets.filter { now - $0.value.updated < .seconds(1) }
    }
}
