/// What the TUN handed over: one IP packet, or one IP header before the payload of many TCP or UDP segments.
///
/// Parsed once from a virtio header and the packet behind it; all offsets are checked here and trusted afterwards.
public struct SuperPacket: Sendable, BitwiseCopyable {
    /// The inner destination, by which the caller finds the peer.
    public private(set) var destination: IPAddress = .v4(0)
    /// The inner source.
    public private(set) var source: IPAddress = .v4(0)
    /// The IPv4 ToS or IPv6 traffic class of every segment.
    public private(set) var trafficClass: UInt8 = 0
    /// The IPv4 protocol or the IPv6 next header.
    public private(set) var transport: UInt8 = 0
    /// IP packets that this one becomes; each takes one counter.
    public private(set) var segmentCount: Int = 0
    /// Bytes from the IP header to the end.
    public private(set) var length: Int = 0
    /// Header bytes in front of each segment's payload; 0 for a packet that is sent as it is.
    public private(set) var headerLength: Int = 0
    /// Payload bytes of each segment but the last; 0 for a packet that is sent as it is.
    public private(set) var segmentSize: Int = 0

    /// Where the IP header is in the slot.
    private(set) var offset: Int = 0
    /// Where the transport header is, counted from the IP header; meaningful when `segmentSize` is not 0.
    private(set) var transportOffset: Int = 0
    /// The pseudo header's sum without the length, in native order.
    private(set) var pseudoSum: UInt64 = 0

    var isTCP: Bool { transportIsTCP }
    private var transportIsTCP: Bool = false

    init() {}

    /// The family of both addresses: 4 or 6.
    public var family: UInt8 { destination.family }

    /// The two ECN bits (RFC 3168).
    public var ecn: UInt8 { trafficClass & 3 }

    /// The bytes of segment `index`, headers included.
    @inline(always)
    func segmentLength(_ index: Int) -> Int {
        if segmentSize == 0 { return length }
        return headerLength + min(segmentSize, length - headerLength - index * segmentSize)
    }
}

/// A packet from the TUN, or why it is dropped.
enum ParsedPacket {
    case packet(SuperPacket)
    case drop(DropReason)
}

extension SuperPacket {
    static let tcp: UInt8 = 6
    static let udp: UInt8 = 17
    /// The longest header that is stamped: 60 + 60 bytes for IPv4; 40, extension headers and 60 for IPv6.
    static let longestHeader: Int = 256

    /// Parses the packet at `offset`, `count` bytes long, and completes its checksum if it is a plain packet that needs one.
    static func parse(_ view: ByteView, at offset: Int, count: Int, header: VirtioHeader) -> ParsedPacket {
        guard count >= 20 else { return .drop(.truncated) }
        var packet = SuperPacket()
        packet.offset = offset
        let networkLength: Int
        switch view.load8(offset) >> 4 {
        case 4:
            networkLength = Int(view.load8(offset) & 15) * 4
            packet.length = Int(view.load16(offset + 2))
            guard networkLength >= 20, packet.length >= networkLength else { return .drop(.malformed) }
            packet.trafficClass = view.load8(offset + 1)
            packet.transport = view.load8(offset + 9)
            packet.source = .v4(view.load32(offset + 12))
            packet.destination = .v4(view.load32(offset + 16))
        case 6:
            guard count >= 40 else { return .drop(.truncated) }
            networkLength = 40
            packet.length = 40 + Int(view.load16(offset + 4))
            packet.trafficClass = UInt8(truncatingIfNeeded: view.load16(offset) >> 4)
            packet.transport = view.load8(offset + 6)
            packet.source = .v6(view.load128(offset + 8))
            packet.destination = .v6(view.load128(offset + 24))
        default: return .drop(.malformed)
        }
        guard packet.length <= count else { return .drop(.truncated) }
        packet.segmentCount = 1
        if header.segmentation != .none {
            return packet.parseSegmentation(view, header, networkLength)
        }
        if header.needsChecksum, !packet.completeChecksum(view, header.checksumStart, header.checksumOffset) {
            return .drop(.malformed)
        }
        return .packet(packet)
    }

    private func parseSegmentation(_ view: ByteView, _ header: VirtioHeader, _ networkLength: Int) -> ParsedPacket {
        var packet = self
        let isTCP = header.segmentation != .udp
        let matches =
            switch header.segmentation {
            case .tcp4: family == 4
            case .tcp6: family == 6
            case .udp: true
            case .none: false
            }
        // csum_start is where the transport header begins, also behind IPv6 extension headers.
        let start = header.needsChecksum ? header.checksumStart : networkLength
        let field = isTCP ? 16 : 6
        guard matches, header.segmentSize > 0, start >= networkLength, start + (isTCP ? 20 : 8) <= length,
            !header.needsChecksum || header.checksumOffset == field,
            start == networkLength || family == 6
        else { return .drop(.malformed) }
        if start == networkLength, transport != (isTCP ? Self.tcp : Self.udp) { return .drop(.malformed) }
        let transportLength = isTCP ? Int(view.load8(offset + start + 12) >> 4) * 4 : 8
        packet.headerLength = start + transportLength
        guard transportLength >= (isTCP ? 20 : 8), packet.headerLength <= length,
            packet.headerLength <= Self.longestHeader
        else { return .drop(.malformed) }
        let payload = length - packet.headerLength
        packet.transportIsTCP = isTCP
        packet.transportOffset = start
        packet.segmentSize = header.segmentSize
        packet.segmentCount = max(1, (payload + header.segmentSize - 1) / header.segmentSize)
        packet.pseudoSum = packet.pseudoHeaderSum(view, header.needsChecksum, field)
        return .packet(packet)
    }

    // The kernel left the pseudo header's sum, total length included, in the checksum field; with a routing header its
    // destination is not the one in the IP header, so that sum is used and the length is taken out again.
    private func pseudoHeaderSum(_ view: ByteView, _ partial: Bool, _ field: Int) -> UInt64 {
        let transport = offset + transportOffset
        if partial {
            let sum = UInt64(view.loadNative16(transport + field))
            return sum + UInt64(~UInt16(truncatingIfNeeded: checksumWord(length - transportOffset)))
        }
        let number = checksumWord(Int(transportIsTCP ? Self.tcp : Self.udp))
        return family == 4
            ? view.checksum(offset + 12, 8, adding: number) : view.checksum(offset + 8, 32, adding: number)
    }

    private func completeChecksum(_ view: ByteView, _ start: Int, _ field: Int) -> Bool {
        guard start >= 20, start + field + 2 <= length else { return false }
        let value = checksumField(view.checksum(offset + start, length - start))
        // A UDP checksum of zero means that there is none (RFC 768; forbidden by RFC 8200 section 8.1).
        view.storeNative16(value == 0 && field == 6 ? 0xffff : value, offset + start + field)
        return true
    }
}
