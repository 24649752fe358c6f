/// Datagrams of one sender that one receive call gave: equal in size, but for the last.
public struct ReceivedTrain: Sendable, BitwiseCopyable {
    /// The sender's address as the outer header says it; believe it once a datagram is authenticated.
    public internal(set) var from: PeerAddress = PeerAddress(address: .v4(0), port: 0)
    /// The address and interface that the datagrams arrived on.
    public internal(set) var to: LocalAddress?
    /// The outer ToS or traffic class.
    public internal(set) var trafficClass: UInt8 = 0
    /// Bytes of all datagrams.
    public internal(set) var length: Int = 0
    /// Bytes of each datagram but the last.
    public internal(set) var stride: Int = 0
    var slot: Int = 0

    /// The number of datagrams.
    public var count: Int { stride == 0 ? 0 : (length + stride - 1) / stride }

    /// The bytes of datagram `index`.
    public func datagramLength(_ index: Int) -> Int { max(0, min(stride, length - index * stride)) }
}

/// What opening one datagram found; the caller decides with `keep` whether it is delivered.
public struct OpenedPacket: Sendable, BitwiseCopyable {
    public enum Status: UInt8, Sendable, BitwiseCopyable {
        /// An IP packet.
        case packet
        /// Authenticated, nothing inside.
        case empty
        /// Authenticated, but what is inside is no IP packet of that length.
        case malformed
        /// Authenticated, dropped for its outer congestion mark (RFC 6040).
        case congestionMark
        /// The tag does not match: nothing about the datagram is to be believed.
        case forged
    }

    public internal(set) var status: Status = .forged
    /// Set to false to drop the packet; only a `.packet` is ever delivered.
    public var keep: Bool = true
    /// The counter of the datagram; authenticated unless the status is `.forged`.
    public internal(set) var counter: UInt64 = 0
    /// The inner source address of a `.packet`.
    public internal(set) var source: IPAddress = .v4(0)
    /// The inner packet's bytes without padding.
    public internal(set) var length: Int = 0
    /// The outer datagram's bytes.
    public internal(set) var datagramLength: Int = 0

    /// Whether the tag matched.
    public var isAuthentic: Bool { status != .forged }

    // Where the parts lie between opening and commit.
    var run: UInt8 = 0
    var headerAside: Bool = false
    var headerOffset: Int = 0
    var payloadOffset: Int = 0

    public init() {}
}
