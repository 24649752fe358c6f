/// Why a packet or datagram was not passed on.
public enum DropReason: UInt8, CaseIterable, Sendable {
    /// Shorter than its own headers say, or than the framing needs.
    case truncated
    /// A header field contradicts the packet (version, lengths, checksum or segmentation offsets).
    case malformed
    /// The tag does not match.
    case forged
    /// The caller's verdict (replay, wrong inner source).
    case refused
    /// Outer congestion mark on an inner packet that cannot carry one (RFC 6040 section 4.2).
    case congestionMark
    /// Larger than a datagram or super-packet can be.
    case tooLarge
    /// The socket or the TUN had no room.
    case noBuffer
    /// The socket reported another error.
    case sendError
    /// The TUN reported an error, as it does while the interface is down.
    case writeError
}

/// What a path did, owned by its thread; copy it out under the caller's own lock.
public struct PathCounters: Sendable, BitwiseCopyable {
    /// Inner packets (segments) and their bytes without padding.
    public var packets: UInt64 = 0
    public var bytes: UInt64 = 0
    /// Outer datagrams and their payload bytes.
    public var datagrams: UInt64 = 0
    public var datagramBytes: UInt64 = 0
    /// Super-packets read from or written to the TUN, and plain packets.
    public var superPackets: UInt64 = 0
    public var plainPackets: UInt64 = 0
    /// Trains sent or received in one call with more than one datagram, and datagrams handled singly.
    public var trains: UInt64 = 0
    public var singles: UInt64 = 0
    /// Trains that were sent again singly, super-packets that were written again singly.
    public var sendFallbacks: UInt64 = 0
    public var writeFallbacks: UInt64 = 0
    /// Payload bytes moved in user space besides sealing and opening.
    public var movedBytes: UInt64 = 0
    /// Datagrams that the kernel dropped for want of room in the socket (SO_RXQ_OVFL).
    public var kernelDrops: UInt64 = 0
    private var dropCounts = InlineArray<9, UInt64>(repeating: 0)

    public init() {}

    /// The drops for one reason.
    public func drops(_ reason: DropReason) -> UInt64 { dropCounts[Int(reason.rawValue)] }

    /// The drops for every reason.
    public var drops: UInt64 { DropReason.allCases.reduce(0) { $0 + drops($1) } }

    @inline(always)
    mutating func drop(_ reason: DropReason, count: Int = 1) {
        dropCounts[Int(reason.rawValue)] &+= UInt64(count)
    }
}
