/// Turns a super-packet into its segments inside its own slot, front to back.
///
/// Segment i's header is written into the bytes just before its payload. Those are the tail of segment i - 1, so that
/// one must have been consumed. Nothing else of the payload moves:
///
/// ```
///   | header | payload 0 | payload 1 | payload 2 |      as read
///   | header | payload 0 |                              segment 0
///            |     |header| payload 1 |                 segment 1
/// ```
struct Segmenter {
    private let packet: SuperPacket
    private let view: ByteView
    /// A copy of the original header, since stamping overwrites what the slot holds.
    private let template: ByteView
    private let flags: UInt8
    private let identification: UInt16
    private let sequence: UInt32

    private static let finPush: UInt8 = 0x09
    private static let congestionWindowReduced: UInt8 = 0x80

    /// Prepares for `packet` in `view`; `template` is at least `SuperPacket.longestHeader` bytes of scratch memory.
    init(_ packet: SuperPacket, in view: ByteView, template: ByteView) {
        self.packet = packet
        self.view = view
        self.template = template
        guard packet.segmentSize != 0 else {
            flags = 0
            identification = 0
            sequence = 0
            return
        }
        template.copy(from: view, at: packet.offset, to: 0, count: packet.headerLength)
        flags = packet.isTCP ? template.load8(packet.transportOffset + 13) : 0
        identification = packet.family == 4 ? template.load16(4) : 0
        sequence = packet.isTCP ? template.load32(packet.transportOffset + 4) : 0
    }

    /// Writes the header of segment `index` and returns where the segment begins in the slot.
    @inline(always)
    func stamp(_ index: Int) -> Int {
        guard packet.segmentSize != 0 else { return packet.offset }
        let start = packet.offset + index * packet.segmentSize
        let length = packet.segmentLength(index)
        view.copy(from: template, at: 0, to: start, count: packet.headerLength)
        if packet.family == 4 {
            view.store16(UInt16(truncatingIfNeeded: length), start + 2)
            view.store16(identification &+ UInt16(truncatingIfNeeded: index), start + 4)
            view.store16(0, start + 10)
            let headerBytes = Int(template.load8(0) & 15) * 4
            view.storeNative16(checksumField(view.checksum(start, headerBytes)), start + 10)
        } else {
            view.store16(UInt16(truncatingIfNeeded: length - 40), start + 4)
        }
        stampTransport(index, start + packet.transportOffset, length - packet.transportOffset)
        return start
    }

    @inline(always)
    private func stampTransport(_ index: Int, _ transport: Int, _ length: Int) {
        let pseudo = packet.pseudoSum + checksumWord(length)
        if packet.isTCP {
            view.store32(sequence &+ UInt32(truncatingIfNeeded: index * packet.segmentSize), transport + 4)
            var flags = flags
            if index != packet.segmentCount - 1 { flags &= ~Self.finPush }
            if index != 0 { flags &= ~Self.congestionWindowReduced }
            view.store8(flags, transport + 13)
            view.store16(0, transport + 16)
            view.storeNative16(checksumField(view.checksum(transport, length, adding: pseudo)), transport + 16)
        } else {
            view.store16(UInt16(truncatingIfNeeded: length), transport + 4)
            view.store16(0, transport + 6)
            let value = checksumField(view.checksum(transport, length, adding: pseudo))
            view.storeNative16(value == 0 ? 0xffff : value, transport + 6)
        }
    }
}
