/// The time stamps of a peer's initiations: each must be later than those before (whitepaper section 5.1).
///
/// A peer whose clock was ahead by years for one handshake would be locked out until that date. So stamps absurdly ahead
/// of our clock are a class of their own, from the first such stamp on, and below it the peer goes on from where it was.
/// In each class stamps must rise, and the classes do not overlap: a stamp that was taken once is never taken again.
struct PeerTimestamps: BitwiseCopyable {
    /// How far a stamp may be ahead of our clock; either clock may be off a little.
    static let tolerance: TimeSpan = TimestampGuard.maximumAdvance

    /// The latest stamp below `ahead`.
    private var latest = TAI64N.zero
    /// The first stamp of those that were absurdly ahead of our clock; nil if time has caught up with them all.
    private var ahead: TAI64N?
    /// The latest stamp from `ahead` on.
    private var latestAhead = TAI64N.zero

    /// Whether the stamp is later than all those before it in its class.
    func isFresh(_ stamp: TAI64N) -> Bool {
        if let ahead, stamp >= ahead { return stamp > latestAhead }
        return stamp > latest
    }

    /// Remembers a fresh stamp that came at this time of our clock.
    mutating func note(_ stamp: TAI64N, at wallClock: TAI64N) {
        if ahead != nil, latestAhead <= wallClock {
            latest = latestAhead
            ahead = nil
        }
        if let ahead, stamp >= ahead {
            latestAhead = stamp
        } else if stamp > wallClock + Self.tolerance {
            latestAhead = max(latestAhead, stamp)
            ahead = stamp
        } else {
            latest = max(latest, stamp)
        }
    }
}
