/// The headers of one opened packet: where its parts are and whether it may join a super-packet.
struct InnerPacket: BitwiseCopyable {
    /// Bytes of the IP packet; what follows is padding.
    var length: Int = 0
    var source: IPAddress = .v4(0)
    var isTCP: Bool = false
    /// TCP or UDP, not fragmented, with its whole transport header: addresses and ports name a flow.
    var hasFlow: Bool = false
    /// May begin or continue a super-packet.
    var coalescible: Bool = false
    var transportOffset: Int = 0
    var headerLength: Int = 0
    var flags: UInt8 = 0
    var sequence: UInt32 = 0

    var payload: Int { length - headerLength }
    var family: UInt8 { source.family }

    private static let finPush: UInt8 = 0x09

    /// FIN or PSH: the last segment of a super-packet, as for the kernel's GRO.
    var endsRun: Bool { isTCP && flags & Self.finPush != 0 }

    /// Parses what lies at `offset`, of which `available` bytes were authenticated; nil for what is no IP packet.
    @inline(always)
    init?(_ view: ByteView, at offset: Int, available: Int) {
        guard available >= 20 else { return nil }
        let transport: UInt8
        switch view.load8(offset) >> 4 {
        case 4:
            transportOffset = Int(view.load8(offset) & 15) * 4
            length = Int(view.load16(offset + 2))
            guard transportOffset >= 20, length >= transportOffset, length <= available else { return nil }
            source = .v4(view.load32(offset + 12))
            // More fragments, or not the first one: there may be no transport header, and no checksum of this packet.
            if view.load16(offset + 6) & 0x3fff != 0 { return }
            transport = view.load8(offset + 9)
        case 6:
            guard available >= 40 else { return nil }
            transportOffset = 40
            length = 40 + Int(view.load16(offset + 4))
            guard length <= available else { return nil }
            source = .v6(view.load128(offset + 8))
            transport = view.load8(offset + 6)
        default: return nil
        }
        switch transport {
        case SuperPacket.tcp: parseTCP(view, offset + transportOffset)
        case SuperPacket.udp: parseUDP(view, offset + transportOffset)
        default: break
        }
    }

    @inline(always)
    private mutating func parseTCP(_ view: ByteView, _ transport: Int) {
        guard length >= transportOffset + 20 else { return }
        let header = Int(view.load8(transport + 12) >> 4) * 4
        guard header >= 20, transportOffset + header <= length else { return }
        hasFlow = true
        isTCP = true
        headerLength = transportOffset + header
        flags = view.load8(transport + 13)
        sequence = view.load32(transport + 4)
        // ACK alone or with PSH, FIN, ECE; SYN, RST, URG and CWR change state at the receiver and stand alone.
        coalescible = flags & 0xb6 == 0x10 && payload > 0 && hasPlainNetworkHeader
    }

    @inline(always)
    private mutating func parseUDP(_ view: ByteView, _ transport: Int) {
        guard length >= transportOffset + 8 else { return }
        hasFlow = true
        headerLength = transportOffset + 8
        let whole = Int(view.load16(transport + 4)) == length - transportOffset
        // Without a checksum there must be none afterwards either, which a super-packet cannot say.
        coalescible = whole && payload > 0 && view.load16(transport + 6) != 0 && hasPlainNetworkHeader
    }

    private var hasPlainNetworkHeader: Bool { transportOffset == (family == 4 ? 20 : 40) }
}

/// Applies the outer ECN field to the inner packet (RFC 6040 figure 4); false when the packet must be dropped.
func applyCongestionMark(_ view: ByteView, at offset: Int, outer: UInt8) -> Bool {
    let outer = UInt16(outer & 3)
    // Not-ECT and ECT(0) outside change nothing.
    guard outer & 1 != 0 else { return true }
    let isV4 = view.load8(offset) >> 4 == 4
    let shift: UInt16 = isV4 ? 0 : 4
    let word = view.load16(offset)
    let inner = word >> shift & 3
    // Not-ECT inside: whoever sent it learns of congestion by a loss alone.
    guard inner != 0 else { return outer != 3 }
    // CE replaces both of the others, ECT(1) only ECT(0).
    guard outer == 3 || inner == 2 else { return true }
    let marked = word & ~(3 << shift) | outer << shift
    view.store16(marked, offset)
    if isV4 {
        // RFC 1624 equation 3, so that a wrong header checksum stays wrong.
        let sum = UInt64(~view.load16(offset + 10)) + UInt64(~word) + UInt64(marked)
        let folded = (sum & 0xffff) + sum >> 16
        view.store16(~UInt16(truncatingIfNeeded: (folded & 0xffff) + folded >> 16), offset + 10)
    }
    return true
}
