import GatewayRegistry

/// What clients said and the registry's file does not know yet, by the name of the peer.
struct GatewayNotes: Sendable {
    /// The last word of a peer about its lease, in seconds since 1970.
    enum LeaseNote: Sendable, Equatable {
        case heard(at: Int64)
        case released(at: Int64)
    }

    var leases: [String: LeaseNote] = [:]
    var results: [String: ReportedResult] = [:]
    /// Whether a peer waits for an address.
    var areUrgent = false

    /// Whether there is nothing to write.
    var isEmpty: Bool { leases.isEmpty && results.isEmpty }

    /// Adds later notes, which stand in the place of earlier ones of the same peer.
    mutating func merge(_ later: GatewayNotes) {
        leases.merge(later.leases) { $1 }
        results.merge(later.results) { $1 }
        areUrgent = areUrgent || later.areUrgent
    }
}
