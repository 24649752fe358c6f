extension ReceivePath {
    /// Writes one super-packet or packet to the TUN in one call.
    mutating func write(_ run: Run) {
        let view = slab.view(run.slot)
        let start = run.offset - VirtioHeader.size
        let header = run.stamp(view)
        header.store(view, at: start)
        if run.count > 1 { counters.superPackets &+= 1 } else { counters.plainPackets &+= 1 }
        guard output >= 0 else { return }
        let result = System.write(output, view, start, VirtioHeader.size + run.length)
        if result < 0 { mend(run, header, result) }
    }

    /// Does what can be done after the TUN refused a write with this negative errno.
    mutating func mend(_ run: Run, _ header: VirtioHeader, _ result: Int) {
        if result == -22, run.count > 1 {  // EINVAL
            // Some kernels refuse valid super-packets (6.6.44, 6.10); they will go on doing so.
            if run.isTCP { joinsTCP = false } else { joinsUDP = false }
            counters.writeFallbacks &+= 1
            writeSingly(run, header, slab.view(run.slot))
        } else {
            fail(result, run.count)
        }
    }

    // Takes the super-packet apart again, with full checksums.
    private mutating func writeSingly(_ run: Run, _ header: VirtioHeader, _ view: ByteView) {
        guard case .packet(let packet) = SuperPacket.parse(view, at: run.offset, count: run.length, header: header)
        else { return counters.drop(.malformed, count: run.count) }
        let template = slab.view(Self.scratch).slice(Self.templateOffset, SuperPacket.longestHeader)
        let segmenter = Segmenter(packet, in: view, template: template)
        for index in 0..<packet.segmentCount {
            let start = segmenter.stamp(index) - VirtioHeader.size
            VirtioHeader().store(view, at: start)
            let result = System.write(output, view, start, VirtioHeader.size + packet.segmentLength(index))
            if result < 0 { fail(result, 1) }
        }
    }

    private mutating func fail(_ result: Int, _ count: Int) {
        writeError = Int32(truncatingIfNeeded: -result)
        counters.drop(result == -11 || result == -105 ? .noBuffer : .writeError, count: count)
    }
}
