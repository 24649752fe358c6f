/// A growing super-packet: one header and the payload of consecutive segments of one flow, contiguous in a slot.
struct Run: BitwiseCopyable {
    /// The largest IP packet, and as many UDP segments as every kernel takes.
    static let maximumLength: Int = 65_535
    static let maximumUDPSegments: Int = 64

    var slot: Int = 0
    /// Where the first segment's IP header is in the slot.
    var offset: Int = 0
    /// Bytes from the IP header to the end of the payload.
    var length: Int = 0
    var count: Int = 0
    /// The payload of every segment but the last.
    var segmentSize: Int = 0
    var headerLength: Int = 0
    var transportOffset: Int = 0
    var isTCP: Bool = false
    var family: UInt8 = 4
    var hasFlow: Bool = false
    var coalescible: Bool = false
    /// Nothing may follow: a short segment, PSH or FIN, or full.
    var closed: Bool = false
    /// The TCP flags of the whole: those of the first segment and PSH or FIN of the last.
    var flags: UInt8 = 0
    var nextSequence: UInt32 = 0

    var end: Int { offset + length }

    init() {}

    /// A run of one packet whose header and payload lie at `offset`.
    @inline(always)
    init(_ packet: InnerPacket, slot: Int, offset: Int) {
        self.slot = slot
        self.offset = offset
        length = packet.length
        count = 1
        segmentSize = packet.payload
        headerLength = packet.headerLength
        transportOffset = packet.transportOffset
        isTCP = packet.isTCP
        family = packet.family
        hasFlow = packet.hasFlow
        coalescible = packet.coalescible
        closed = packet.endsRun || !packet.coalescible
        flags = packet.flags
        nextSequence = packet.sequence &+ UInt32(truncatingIfNeeded: packet.payload)
    }

    /// Takes in `count` segments, `length` payload bytes, that were put at the end.
    @inline(always)
    mutating func extend(by count: Int, length: Int, lastSegment: Int, flags: UInt8) {
        self.count += count
        self.length += length
        self.flags |= flags
        nextSequence &+= UInt32(truncatingIfNeeded: length)
        closed = lastSegment < segmentSize || (isTCP && flags & 0x09 != 0)
    }

    /// Whether both are of the same connection: addresses, protocol and ports.
    func sameFlow(_ own: ByteView, as other: ByteView, at otherOffset: Int, family: UInt8, isTCP: Bool, _ ports: Int)
        -> Bool
    {
        guard hasFlow, family == self.family, isTCP == self.isTCP,
            own.load32(offset + transportOffset) == other.load32(otherOffset + ports)
        else { return false }
        if family == 4 { return own.load64(offset + 12) == other.load64(otherOffset + 12) }
        return own.load128(offset + 8) == other.load128(otherOffset + 8)
            && own.load128(offset + 24) == other.load128(otherOffset + 24)
    }

    /// Whether segments with the header at `otherOffset` may follow; the flow is already known to be the same.
    ///
    /// The rules are those of the kernel's GRO (tcp_gro_receive, inet_gro_receive): what is joined comes apart again
    /// into the same packets.
    @inline(always)
    func admits(
        _ own: ByteView, header other: ByteView, at otherOffset: Int, headerLength: Int, count: Int, payload: Int,
        segment: Int
    ) -> Bool {
        guard !closed, coalescible, headerLength == self.headerLength, segment <= segmentSize,
            count == 1 || segment == segmentSize, length + payload <= Self.maximumLength,
            isTCP || self.count + count <= Self.maximumUDPSegments
        else { return false }
        if family == 4 {
            // Version, header length and ToS; DF and no fragment; TTL and protocol.
            guard own.load16(offset) == other.load16(otherOffset),
                own.load16(offset + 6) == other.load16(otherOffset + 6),
                own.load16(offset + 8) == other.load16(otherOffset + 8)
            else { return false }
            // Only with DF is the identification free of meaning (RFC 6864 section 4.1).
            if own.load8(offset + 6) & 0x40 == 0,
                other.load16(otherOffset + 4) != own.load16(offset + 4) &+ UInt16(truncatingIfNeeded: self.count)
            {
                return false
            }
        } else {
            // Version, traffic class and flow label; next header and hop limit.
            guard own.load32(offset) == other.load32(otherOffset),
                own.load16(offset + 6) == other.load16(otherOffset + 6)
            else { return false }
        }
        guard isTCP else { return true }
        let left = offset + transportOffset
        let right = otherOffset + transportOffset
        // Sequence; acknowledgement; data offset, flags but PSH and FIN, window; urgent pointer; options.
        guard other.load32(right + 4) == nextSequence, own.load32(left + 8) == other.load32(right + 8),
            (own.load32(left + 12) ^ other.load32(right + 12)) & 0xfff6_ffff == 0,
            own.load16(left + 18) == other.load16(right + 18)
        else { return false }
        let options = headerLength - transportOffset - 20
        return options == 0 || own.equals(left + 20, other, at: right + 20, count: options)
    }

    /// Fills in the header for `count` segments and returns the virtio header to write before it.
    func stamp(_ view: ByteView) -> VirtioHeader {
        var header = VirtioHeader()
        guard count > 1 else { return header }
        let transport = offset + transportOffset
        let number = checksumWord(Int(isTCP ? SuperPacket.tcp : SuperPacket.udp))
        var pseudo = checksumWord(length - transportOffset) + number
        if family == 4 {
            view.store16(UInt16(truncatingIfNeeded: length), offset + 2)
            view.store16(0, offset + 10)
            view.storeNative16(checksumField(view.checksum(offset, 20)), offset + 10)
            pseudo = view.checksum(offset + 12, 8, adding: pseudo)
        } else {
            view.store16(UInt16(truncatingIfNeeded: length - 40), offset + 4)
            pseudo = view.checksum(offset + 8, 32, adding: pseudo)
        }
        header.checksumOffset = isTCP ? 16 : 6
        if isTCP {
            view.store8(flags, transport + 13)
        } else {
            view.store16(UInt16(truncatingIfNeeded: length - transportOffset), transport + 4)
        }
        view.storeNative16(~checksumField(pseudo), transport + header.checksumOffset)
        header.needsChecksum = true
        header.segmentation = isTCP ? (family == 4 ? .tcp4 : .tcp6) : .udp
        header.headerLength = headerLength
        header.segmentSize = segmentSize
        header.checksumStart = transportOffset
        return header
    }
}
