extension ReceivePath {
    /// Delivers the opened packets that are kept: they join an open super-packet or are written, in order within a flow.
    public mutating func commit() {
        var dropped: UInt128 = 0
        for place in 0..<openedCount {
            switch opened[place].status {
            case .packet where opened[place].keep:
                counters.packets &+= 1
                counters.bytes &+= UInt64(opened[place].length)
            case .packet:
                dropped |= 1 << UInt128(opened[place].run)
                counters.drop(.refused)
            case .empty: break
            case .malformed: counters.drop(.malformed)
            case .congestionMark: counters.drop(.congestionMark)
            case .forged:
                counters.drop(opened[place].datagramLength < TransmitPath.overhead ? .truncated : .forged)
            }
        }
        let busy = openedCount > 0
        for index in 0..<runCount where busy {
            if dropped >> UInt128(index) & 1 != 0 {
                placeKeptPackets(ofRun: index)
            } else {
                place(runs[index], continued: index == 0 && continuesFlow, last: index == runCount - 1)
            }
        }
        openedCount = 0
        runCount = 0
    }

    /// Writes every super-packet that is still open; call it before waiting for more datagrams.
    public mutating func flush() {
        for place in 0..<tableCount { write(table[place]) }
        tableCount = 0
        recentSlot = -1
    }

    // A run whose packets are all kept.
    private mutating func place(_ run: Run, continued: Bool, last: Bool) {
        if continued, let place = tablePlace(ofSlot: run.slot) {
            update(place, run)
            return
        }
        let view = slab.view(run.slot)
        if run.hasFlow, let place = flowPlace(of: view, run.offset, run) {
            if run.coalescible, admits(place, view, run.offset, run) {
                append(place, view, payload: run.offset + run.headerLength, run)
                return
            }
            // Order within the flow: what came before is written before.
            write(table[place])
            removeFromTable(place)
        }
        if run.closed || (!last && run.length >= Self.longRun) {
            write(run)
        } else if tablePlace(ofSlot: run.slot) == nil {
            insert(run)
        } else {
            insertCopy(run, view, header: run.offset, view, payload: run.offset + run.headerLength)
        }
    }

    // A run that lost packets: each one that is kept finds its place anew.
    private mutating func placeKeptPackets(ofRun index: Int) {
        let pattern = runs[index]
        let view = slab.view(pattern.slot)
        for place in 0..<openedCount
        where opened[place].status == .packet && opened[place].keep && Int(opened[place].run) == index {
            let packet = opened[place]
            let headers = packet.headerAside ? slab.view(Self.scratch) : view
            guard let inner = InnerPacket(headers, at: packet.headerOffset, available: packet.length) else { continue }
            var single = Run(inner, slot: pattern.slot, offset: packet.headerOffset)
            single.coalescible = pattern.coalescible
            single.closed = inner.endsRun || !pattern.coalescible
            placeSingle(single, headers, header: packet.headerOffset, view, payload: packet.payloadOffset)
        }
    }

    /// Finds the place of one packet that lies outside of the flow slots, or of a run: in an open super-packet, or on its own.
    mutating func placeSingle(
        _ single: Run, _ headers: ByteView, header: Int, _ payloads: ByteView, payload: Int
    ) {
        if let place = flowPlace(of: headers, header, single) {
            if single.coalescible, admits(place, headers, header, single) {
                append(place, payloads, payload: payload, single)
                return
            }
            // Order within the flow: what came before is written before.
            write(table[place])
            removeFromTable(place)
        }
        insertCopy(single, headers, header: header, payloads, payload: payload)
        if single.closed, let place = tablePlace(ofSlot: recentSlot) {
            write(table[place])
            removeFromTable(place)
        }
    }

    // MARK: The table of open super-packets

    func tablePlace(ofSlot slot: Int) -> Int? {
        for place in 0..<tableCount where table[place].slot == slot { return place }
        return nil
    }

    private func flowPlace(of view: ByteView, _ offset: Int, _ run: Run) -> Int? {
        for place in 0..<tableCount {
            let own = slab.view(table[place].slot)
            if table[place].sameFlow(
                own, as: view, at: offset, family: run.family, isTCP: run.isTCP, run.transportOffset)
            {
                return place
            }
        }
        return nil
    }

    private func admits(_ place: Int, _ view: ByteView, _ offset: Int, _ run: Run) -> Bool {
        let payload = run.length - run.headerLength
        return table[place].end + payload <= Slab.slotSize
            && table[place].admits(
                slab.view(table[place].slot), header: view, at: offset, headerLength: run.headerLength,
                count: run.count, payload: payload, segment: run.segmentSize)
    }

    private mutating func append(_ place: Int, _ view: ByteView, payload offset: Int, _ run: Run) {
        var grown = table[place]
        let payload = run.length - run.headerLength
        slab.view(grown.slot).copy(from: view, at: offset, to: grown.end, count: payload)
        counters.movedBytes &+= UInt64(payload)
        let lastSegment = payload - (run.count - 1) * run.segmentSize
        grown.extend(by: run.count, length: payload, lastSegment: lastSegment, flags: run.flags)
        update(place, grown)
    }

    private mutating func update(_ place: Int, _ run: Run) {
        table[place] = run
        recentSlot = run.slot
        if run.closed {
            write(run)
            removeFromTable(place)
        }
    }

    private mutating func insert(_ run: Run) {
        if tableCount == Self.flows {
            write(table[0])
            removeFromTable(0)
        }
        table[tableCount] = run
        tableCount += 1
        recentSlot = run.slot
    }

    private mutating func insertCopy(_ run: Run, _ headers: ByteView, header: Int, _ payloads: ByteView, payload: Int) {
        if tableCount == Self.flows {
            write(table[0])
            removeFromTable(0)
        }
        var moved = run
        moved.slot = freeSlot()
        moved.offset = Slab.dataOffset
        let view = slab.view(moved.slot)
        view.copy(from: headers, at: header, to: moved.offset, count: run.headerLength)
        let bytes = run.length - run.headerLength
        view.copy(from: payloads, at: payload, to: moved.offset + run.headerLength, count: bytes)
        counters.movedBytes &+= UInt64(run.length)
        insert(moved)
    }

    mutating func removeFromTable(_ place: Int) {
        if table[place].slot == recentSlot { recentSlot = -1 }
        var next = place + 1
        while next < tableCount {
            table[next - 1] = table[next]
            next += 1
        }
        tableCount -= 1
    }

    /// A flow slot that no open super-packet is in, and that is not being opened into.
    ///
    /// INVARIANT: there is one slot more than flows; while packets are placed, the slot they were opened into is either
    /// a flow's own or that one more, so the table is made to have room first.
    mutating func freeSlot() -> Int {
        for slot in Self.flowSlots where tablePlace(ofSlot: slot) == nil && !(openedCount > 0 && slot == openSlot) {
            return slot
        }
        preconditionFailure("more super-packets than slots")
    }
}
