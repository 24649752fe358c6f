extension ReceivePath {
    /// Opens `count` datagrams from `index` on with one key; `packets` then says what they are.
    ///
    /// `commit()` must follow.
    ///
    /// Takes at most `openCapacity` datagrams of at least 32 bytes each, as `runLength` counts them, and returns how many
    /// it took. An inner packet is cut to the length in its IP header.
    @discardableResult
    public mutating func open(
        _ train: ReceivedTrain, from index: Int, count: Int, key: borrowing AEADKey
    ) -> Int {
        precondition(openedCount == 0, "commit before opening more")
        let count = min(count, Self.openCapacity, train.count - index)
        guard count > 0 else { return 0 }
        aead.use(key)
        var tail = beginRuns(payload: count * train.stride)
        let input = slab.view(train.slot)
        let view = slab.view(openSlot)
        for place in 0..<count {
            let size = train.datagramLength(index + place)
            let start = Slab.dataOffset + (index + place) * train.stride
            opened[place] = OpenedPacket()
            opened[place].datagramLength = size
            guard size >= TransmitPath.overhead else { continue }
            tail = openOne(place, input, start, size - TransmitPath.overhead, view, tail, train.trafficClass)
        }
        openedCount = count
        return count
    }

    // Opened packets go behind the flow that was served last, where they fit with all that may come between them, or
    // into a fresh slot. Returns where the first one may begin.
    private mutating func beginRuns(payload: Int) -> Int {
        runCount = 0
        continuesFlow = false
        if let place = tablePlace(ofSlot: recentSlot) {
            let run = table[place]
            if run.length + payload <= Run.maximumLength && run.end + payload <= Slab.slotSize {
                continuesFlow = true
                openSlot = run.slot
                runs[0] = run
                runCount = 1
                return run.end
            }
            // It would be cut in two anyway: let it go, and begin the next one where nothing has to be moved.
            write(run)
            removeFromTable(place)
        }
        openSlot = freeSlot()
        return Slab.dataOffset - Self.gap
    }

    /// At least this much room is before a packet that begins a run, for its virtio header.
    static let gap: Int = 16

    // Opens one datagram at the place where it continues the current run, or where it begins the next one.
    @inline(always)
    private mutating func openOne(
        _ place: Int, _ input: ByteView, _ start: Int, _ length: Int, _ view: ByteView, _ tail: Int, _ outer: UInt8
    ) -> Int {
        let current = runCount - 1
        let overlap = current >= 0 && !runs[current].closed ? runs[current].headerLength : 0
        let fresh = (tail + Self.gap + 15) & ~15
        let target = overlap > 0 ? tail - overlap : fresh
        let scratch = slab.view(Self.scratch)
        if overlap > 0 { scratch.copy(from: view, at: target, to: Self.savedOffset, count: overlap) }
        let counter = input.load64(start + 8).byteSwapped
        opened[place].counter = counter
        let authentic = aead.open(input, start + 16, length, into: view, target, counter: counter)
        let packet = authentic ? inspect(place, view, target, length, outer) : nil
        guard let packet else {
            if overlap > 0 { view.copy(from: scratch, at: Self.savedOffset, to: target, count: overlap) }
            return tail
        }
        opened[place].source = packet.source
        opened[place].length = packet.length
        if overlap > 0, packet.coalescible, continues(runs[current], packet, view, target) {
            let aside = place * Self.asideSize
            scratch.copy(from: view, at: target, to: aside, count: overlap)
            view.copy(from: scratch, at: Self.savedOffset, to: target, count: overlap)
            runs[current].extend(
                by: 1, length: packet.payload, lastSegment: packet.payload, flags: packet.flags)
            remember(place, run: current, header: aside, aside: true, payload: tail)
            return tail + packet.payload
        }
        if overlap > 0 {
            view.copy(from: view, at: target, to: fresh, count: packet.length)
            view.copy(from: scratch, at: Self.savedOffset, to: target, count: overlap)
            counters.movedBytes &+= UInt64(packet.length)
        }
        runs[runCount] = Run(packet, slot: openSlot, offset: fresh)
        remember(place, run: runCount, header: fresh, aside: false, payload: fresh + packet.headerLength)
        runCount += 1
        return fresh + packet.length
    }

    @inline(always)
    private func continues(_ run: Run, _ packet: InnerPacket, _ view: ByteView, _ offset: Int) -> Bool {
        packet.isTCP == run.isTCP && packet.family == run.family && packet.headerLength == run.headerLength
            && run.sameFlow(
                view, as: view, at: offset, family: packet.family, isTCP: packet.isTCP, packet.transportOffset)
            && run.admits(
                view, header: view, at: offset, headerLength: packet.headerLength, count: 1, payload: packet.payload,
                segment: packet.payload)
    }

    // Sets the status, and gives the headers of a packet that can be delivered.
    @inline(always)
    private mutating func inspect(
        _ place: Int, _ view: ByteView, _ offset: Int, _ length: Int, _ outer: UInt8
    ) -> InnerPacket? {
        guard length > 0 else {
            opened[place].status = .empty
            return nil
        }
        guard var packet = InnerPacket(view, at: offset, available: length) else {
            opened[place].status = .malformed
            return nil
        }
        guard applyCongestionMark(view, at: offset, outer: outer) else {
            opened[place].status = .congestionMark
            return nil
        }
        if !(packet.isTCP ? joinsTCP : joinsUDP) { packet.coalescible = false }
        opened[place].status = .packet
        return packet
    }

    @inline(always)
    private mutating func remember(_ place: Int, run: Int, header: Int, aside: Bool, payload: Int) {
        opened[place].run = UInt8(truncatingIfNeeded: run)
        opened[place].headerOffset = header
        opened[place].headerAside = aside
        opened[place].payloadOffset = payload
    }
}
