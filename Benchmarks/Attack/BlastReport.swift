import WireGuard

/// What was sent to a victim, and what must come of it; the hidden verb `blast` prints it as JSON.
struct BlastReport: Codable, Equatable {
    var sent = 0
    /// How many must be dropped for which reason, as metrics name it; empty where that depends on the load.
    var drops: [String: Int] = [:]
    /// The bytes of those that must be taken.
    var acceptedBytes = 0
    /// How long the sending took.
    var seconds: Double = 0

    mutating func add(_ shot: Shot) {
        sent += 1
        if let reason = shot.reason {
            drops[reason.name, default: 0] += 1
        } else {
            acceptedBytes += shot.bytes.count
        }
    }
}
