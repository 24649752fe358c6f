import WireGuard

/// The peers whose endpoint is a name: when that is looked up again, and which of its addresses is tried next.
///
/// A name is looked up while its peer is silent: with the third initiation that nothing answers, and from then on after a
/// rest that grows. A peer that is heard stays where it was heard, whatever its name says.
struct EndpointNames: Sendable {
    private struct Entry {
        let name: Configuration.PeerEndpoint
        /// Initiations since the peer was heard.
        var unanswered = 0
        /// What had come from the peer at the first of them, in bytes.
        var received: UInt64 = 0
        /// When the next look-up may be, and the rest after it.
        var earliest = Instant.zero
        var rest = EndpointNames.shortestRest
    }

    /// Initiations without an answer that call for a look-up: they are five seconds apart.
    static let patience = 3
    static let shortestRest = TimeSpan.seconds(30)
    static let longestRest = TimeSpan.seconds(600)

    /// Looks a name up, and blocks for as long as that takes; the addresses in the order in which they are tried, none where
    /// the name gives none now.
    let resolve: @Sendable (Configuration.PeerEndpoint) -> [Endpoint]
    private var entries: [PublicKey: Entry] = [:]

    /// The names of a configuration.
    init(_ configuration: Configuration, resolve: @escaping @Sendable (Configuration.PeerEndpoint) -> [Endpoint]) {
        self.resolve = resolve
        for peer in configuration.peers where peer.endpoint?.isHostName ?? false {
            entries[peer.publicKey] = peer.endpoint.map { Entry(name: $0) }
        }
    }

    private init() { resolve = { _ in [] } }

    /// No name at all.
    static let none = EndpointNames()

    var isEmpty: Bool { entries.isEmpty }

    /// Notes an initiation that is sent to a peer.
    ///
    /// - Parameters:
    ///   - key: The peer.
    ///   - received: What has come from it until now, in bytes.
    ///   - now: The present.
    /// - Returns: The name to look up now; nil if there is no need yet.
    mutating func noteInitiation(to key: PublicKey, received: UInt64, now: Instant) -> Configuration.PeerEndpoint? {
        guard var entry = entries[key] else { return nil }
        defer { entries[key] = entry }
        if entry.received != received {
            entry = Entry(name: entry.name)
            entry.received = received
        }
        entry.unanswered += 1
        guard entry.unanswered >= Self.patience, now >= entry.earliest else { return nil }
        entry.earliest = now + entry.rest
        entry.rest = min(Self.longestRest, entry.rest + entry.rest)
        return entry.name
    }

    /// Where a peer is tried next.
    ///
    /// - Parameters:
    ///   - key: The peer.
    ///   - found: What its name gave.
    ///   - present: Where it is now.
    ///   - received: What has come from it until now, in bytes.
    /// - Returns: nil if it stays where it is: it was heard meanwhile, or the name says nothing else.
    func next(of key: PublicKey, among found: [Endpoint], after present: Endpoint?, received: UInt64) -> Endpoint? {
        guard let entry = entries[key], entry.received == received, !found.isEmpty else { return nil }
        guard let present, let index = found.firstIndex(of: present) else { return found[0] }
        let next = found[(index + 1) % found.count]
        return next == present ? nil : next
    }

    /// Leaves a peer to whoever removed it, or gave it another endpoint.
    mutating func forget(_ key: PublicKey) { entries[key] = nil }
}

extension Configuration.PeerEndpoint {
    /// Whether the endpoint is a name in DNS, not a link-local address with the name of an interface.
    var isHostName: Bool {
        if case .name(let host, _) = self { !host.contains(":") } else { false }
    }
}
