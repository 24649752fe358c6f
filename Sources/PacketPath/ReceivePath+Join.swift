extension ReceivePath {
    /// Takes a complete packet that came by another way than a train, in order within its flow.
    ///
    /// It joins an open super-packet when it continues one and its checksums are right: those of a super-packet are made
    /// anew, and a wrong one must stay wrong. `flush()` must follow the last packet.
    ///
    /// - Returns: False for what is no IP packet; it is dropped and counted.
    @discardableResult
    public mutating func join(_ packet: RawSpan) -> Bool {
        ByteView.withReadable(of: packet) { join($0) }
    }

    private mutating func join(_ view: ByteView) -> Bool {
        guard var packet = InnerPacket(view, at: 0, available: view.count) else {
            counters.drop(.malformed)
            return false
        }
        if packet.coalescible {
            packet.coalescible = (packet.isTCP ? joinsTCP : joinsUDP) && packet.hasRightChecksums(view)
        }
        counters.packets &+= 1
        counters.bytes &+= UInt64(packet.length)
        placeSingle(Run(packet, slot: -1, offset: 0), view, header: 0, view, payload: packet.headerLength)
        return true
    }
}

extension InnerPacket {
    /// Whether the checksums of a TCP or UDP packet that begins the view are right.
    fileprivate func hasRightChecksums(_ view: ByteView) -> Bool {
        var sum = checksumWord(length - transportOffset) + checksumWord(Int(isTCP ? SuperPacket.tcp : SuperPacket.udp))
        if family == 4 {
            guard checksumField(view.checksum(0, transportOffset)) == 0 else { return false }
            sum = view.checksum(12, 8, adding: sum)
        } else {
            sum = view.checksum(8, 32, adding: sum)
        }
        return checksumField(view.checksum(transportOffset, length - transportOffset, adding: sum)) == 0
    }
}
