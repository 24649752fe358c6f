/// Why a packet was dropped; each reason has a counter.
public enum DropReason: UInt8, Sendable, Hashable, CaseIterable {
    /// Not a WireGuard message: unknown type, reserved byte set, wrong length.
    case malformed
    /// No private key is set.
    case noIdentity
    /// The first MAC of a handshake message is wrong.
    case badFirstMAC
    /// We are under load and the message has no valid cookie; a cookie reply was sent instead.
    case cookieRequired
    /// More than 20 handshake messages a second from one source under load.
    case rateLimited
    /// The initiation names a public key that is no peer.
    case unknownPeer
    /// The time stamp of the initiation is not later than the last one.
    case replayedInitiation
    /// More than 50 initiations a second from one peer.
    case initiationFlood
    /// No handshake or session has the receiver index.
    case unknownIndex
    /// The session is older than 180 s, used up, or gone.
    case sessionExpired
    /// A tag is wrong, or a Diffie-Hellman result is all zero.
    case authenticationFailed
    /// The counter was seen before or is too old.
    case replayedCounter
    /// The longest prefix that covers the inner source address is not the sender's.
    case sourceNotAllowed
    /// The inner packet is not IPv4 or IPv6, or shorter than it says.
    case badInnerPacket
    /// No peer's allowed IPs cover the destination.
    case noRoute
    /// The peer has no endpoint yet.
    case noEndpoint
    /// The peer was removed meanwhile.
    case peerRemoved
    /// The queue of packets that wait for a handshake, or another queue of the driver, is full.
    case queueFull
    /// The outer header reports congestion, which the inner packet cannot carry on (RFC 6040 section 4.2).
    case congestionMark
    /// The interface did not take the packet: it is down, or its queue is full.
    case deliveryFailed
    /// The kernel had no room in the socket.
    case socketOverflow

    /// The number of reasons.
    static let count = 21

    /// The reason as metrics name it: `badFirstMAC` is `bad_first_mac`.
    public var name: String {
        var name = ""
        var wasUpper = true
        for character in "\(self)" {
            if character.isUppercase, !wasUpper { name += "_" }
            wasUpper = character.isUppercase
            name += character.lowercased()
        }
        return name
    }
}

/// A counter for each drop reason, owned by one thread and added up by whoever reports.
public struct DropCounters: Sendable, BitwiseCopyable {
    private var counts = InlineArray<21, UInt64>(repeating: 0)

    /// Makes counters of zero.
    public init() {}

    /// The count of one reason.
    public subscript(reason: DropReason) -> UInt64 {
        get { counts[Int(reason.rawValue)] }
        set { counts[Int(reason.rawValue)] = newValue }
    }

    /// Counts one drop.
    public mutating func count(_ reason: DropReason) {
        counts[Int(reason.rawValue)] &+= 1
    }

    /// Adds the counters of another owner.
    public mutating func add(_ other: DropCounters) {
        for index in counts.indices { counts[index] &+= other.counts[index] }
    }

    /// All drops together.
    public var total: UInt64 {
        DropReason.allCases.reduce(0) { $0 &+ self[$1] }
    }
}
