/// What reading from the TUN gave.
public enum ReadOutcome: Equatable, Sendable {
    /// A packet is in `TransmitPath.packet`.
    case packet
    /// Nothing waits.
    case empty
    /// A packet was read, found bad and counted; read on.
    case dropped(DropReason)
    /// The interface was deleted.
    case closed
    /// Another errno.
    case failed(Int32)
}

/// What became of a packet that was to be sealed.
public enum SealOutcome: Equatable, Sendable {
    /// Every segment is in the train or was counted as dropped.
    case complete
    /// The next segment does not fit: flush, then seal again with the same counters; it goes on where it stopped.
    case trainFull
}

/// The way from the TUN to UDP: read, segment, seal into a train, send.
///
/// Owned by one thread.
///
/// ```
/// read(from:) -> .packet        look up the peer of packet.destination; take packet.segmentCount counters
///   other peer or key than the train's?  flush(to:)
///   isEmpty?                             begin(to:from:tag:)
///   while seal(...) == .trainFull        flush(to:)
/// read(from:) -> .empty         flush(to:), then wait
/// ```
/// Each datagram is 8 prefix bytes, the 64-bit little-endian counter, and the sealed packet with its 16-byte tag; the
/// nonce is four zero bytes and the counter. Payload bytes are read once for the checksum and once for sealing.
public struct TransmitPath: ~Copyable {
    /// Bytes that framing adds to the padded packet.
    public static let overhead: Int = 32

    /// The packet that the last `read` or `load` gave; `seal` consumes it.
    public private(set) var packet: SuperPacket = SuperPacket()
    /// What this path did so far.
    public internal(set) var counters: PathCounters = PathCounters()

    let slab: Slab
    let aead: AEAD
    var train: SendTrain = SendTrain()
    var sendState: SendState
    private var segmenter: Segmenter
    private var nextSegment: Int = 0

    static let input: Int = 0
    static let output: Int = 1
    private static let scratch: Int = 2
    private static let savedOffset: Int = 512

    /// A path with its own slots and cipher state.
    public init(backend: AEADBackend, options: PathOptions = PathOptions()) throws(PathError) {
        let slab = try Slab(count: 3)
        let aead = try AEAD(backend)
        segmenter = Segmenter(packet, in: slab.view(Self.input), template: slab.view(Self.scratch))
        self.slab = slab
        self.aead = aead
        sendState = SendState(allowed: options.udpGSO)
    }

    /// Reads one packet or super-packet without waiting.
    ///
    /// The packet before it must be sealed or given up.
    public mutating func read(from tun: TUNDevice) -> ReadOutcome {
        let view = slab.view(Self.input)
        let start = Slab.dataOffset - VirtioHeader.size
        let count = System.read(tun.descriptor, view, start, VirtioHeader.size + Slab.dataSize)
        guard count > 0 else { return Self.readFailure(count) }
        return accept(count)
    }

    private static func readFailure(_ result: Int) -> ReadOutcome {
        switch -result {
        case 11: .empty  // EAGAIN
        case 0, 77: .closed  // end of file; EBADFD: the interface is gone
        default: .failed(Int32(truncatingIfNeeded: -result))
        }
    }

    /// Takes one plain packet that was kept elsewhere, such as one that waited for a handshake.
    public mutating func load(_ bytes: RawSpan) -> ReadOutcome {
        guard bytes.byteCount <= Slab.dataSize else { return drop(.tooLarge) }
        let view = slab.view(Self.input)
        VirtioHeader().store(view, at: Slab.dataOffset - VirtioHeader.size)
        view.copy(from: bytes, to: Slab.dataOffset)
        return accept(VirtioHeader.size + bytes.byteCount)
    }

    /// Takes a virtio header and the packet behind it as if the TUN had given them.
    package mutating func loadSuperPacket(_ bytes: RawSpan) -> ReadOutcome {
        guard bytes.byteCount <= VirtioHeader.size + Slab.dataSize else { return drop(.tooLarge) }
        slab.view(Self.input).copy(from: bytes, to: Slab.dataOffset - VirtioHeader.size)
        return accept(bytes.byteCount)
    }

    private mutating func accept(_ count: Int) -> ReadOutcome {
        nextSegment = 0
        packet = SuperPacket()
        guard count > VirtioHeader.size else { return drop(.truncated) }
        let view = slab.view(Self.input)
        guard let header = VirtioHeader(view, at: Slab.dataOffset - VirtioHeader.size) else { return drop(.malformed) }
        switch SuperPacket.parse(view, at: Slab.dataOffset, count: count - VirtioHeader.size, header: header) {
        case .drop(let reason): return drop(reason)
        case .packet(let parsed):
            packet = parsed
            if parsed.segmentCount > 1 { counters.superPackets &+= 1 } else { counters.plainPackets &+= 1 }
            segmenter = Segmenter(parsed, in: view, template: slab.view(Self.scratch))
            return .packet
        }
    }

    private mutating func drop(_ reason: DropReason) -> ReadOutcome {
        counters.drop(reason)
        return .dropped(reason)
    }

    /// The current packet's bytes, segment headers not yet made; for keeping it until a key is there.
    ///
    /// Only a packet of one segment is a complete IP packet; use `copySegment` for the others.
    public var packetBytes: RawSpan {
        @_lifetime(borrow self)
        borrowing get { slab.bytes(of: Self.input, from: packet.offset - Slab.dataOffset, count: packet.length) }
    }

    /// Makes the next segment a complete packet and gives its bytes, nil after the last: for keeping packets until a key is there.
    @_lifetime(&self)
    public mutating func takeSegment() -> RawSpan? {
        guard nextSegment < packet.segmentCount else { return nil }
        let start = segmenter.stamp(nextSegment)
        let count = packet.segmentLength(nextSegment)
        nextSegment += 1
        let span = slab.bytes(of: Self.input, from: start - Slab.dataOffset, count: count)
        return span
    }

    /// Segments of the current packet that are neither sealed nor taken yet.
    public var remainingSegments: Int { packet.segmentCount - nextSegment }

    // MARK: The train

    /// Whether the train has no datagram.
    public var isEmpty: Bool { train.count == 0 }

    /// The caller's mark of the train's peer and key, as `begin` set it.
    public var tag: UInt64 { train.tag }

    /// Sets where the datagrams that follow go; the train must be empty.
    public mutating func begin(to destination: PeerAddress, from source: LocalAddress?, tag: UInt64) {
        precondition(train.count == 0, "flush before another destination")
        train.destination = destination
        train.source = source
        train.tag = tag
    }

    /// Seals the segments of the current packet that are not sealed yet; segment i takes the counter `firstCounter` + i.
    ///
    /// `prefix` is the datagram's first eight bytes as a little-endian number. `mtu` bounds the padding, 0 for unknown.
    public mutating func seal(
        key: borrowing AEADKey, prefix: UInt64, firstCounter: UInt64, mtu: Int
    ) -> SealOutcome {
        aead.use(key)
        let view = slab.view(Self.input)
        let output = slab.view(Self.output)
        let ecn = packet.ecn
        while nextSegment < packet.segmentCount {
            let length = packet.segmentLength(nextSegment)
            let padded = paddedLength(length, mtu: mtu)
            let size = padded + Self.overhead
            guard train.admits(size, trafficClass: ecn) else {
                if train.count > 0 { return .trainFull }
                counters.drop(.tooLarge, count: packet.segmentCount - nextSegment)
                nextSegment = packet.segmentCount
                return .complete
            }
            let start = segmenter.stamp(nextSegment)
            let target = Slab.dataOffset + train.length
            let counter = firstCounter &+ UInt64(nextSegment)
            output.store64(prefix.byteSwapped, target)
            output.store64(counter.byteSwapped, target + 8)
            if padded == length {
                aead.seal(view, start, length, into: output, target + 16, counter: counter)
            } else {
                sealPadded(view, start, length, padded, output, target + 16, counter)
            }
            train.append(size, trafficClass: ecn)
            nextSegment += 1
            counters.packets &+= 1
            counters.bytes &+= UInt64(length)
        }
        return .complete
    }

    // The padding lies where the next segment's payload begins: at most 15 bytes, kept aside for the time of one call.
    private func sealPadded(
        _ view: ByteView, _ start: Int, _ length: Int, _ padded: Int, _ output: ByteView, _ target: Int,
        _ counter: UInt64
    ) {
        let end = start + length
        let padding = padded - length
        let scratch = slab.view(Self.scratch)
        scratch.copy(from: view, at: end, to: Self.savedOffset, count: padding)
        view.zero(end, padding)
        aead.seal(view, start, padded, into: output, target, counter: counter)
        view.copy(from: scratch, at: Self.savedOffset, to: end, count: padding)
    }

    /// Seals an empty packet: a keep-alive of 32 bytes.
    public mutating func sealEmpty(key: borrowing AEADKey, prefix: UInt64, counter: UInt64) -> SealOutcome {
        guard train.admits(Self.overhead, trafficClass: 0) else { return .trainFull }
        aead.use(key)
        let output = slab.view(Self.output)
        let target = Slab.dataOffset + train.length
        output.store64(prefix.byteSwapped, target)
        output.store64(counter.byteSwapped, target + 8)
        aead.seal(output, 0, 0, into: output, target + 16, counter: counter)
        train.append(Self.overhead, trafficClass: 0)
        return .complete
    }

    /// The sealed datagrams, one after the other.
    public var trainBytes: RawSpan {
        @_lifetime(borrow self)
        borrowing get { slab.bytes(of: Self.output, from: 0, count: train.length) }
    }

    /// The size of the train's datagrams but the last, and their number.
    public var trainShape: (stride: Int, count: Int) { (train.stride, train.count) }

    /// Forgets the train without sending it.
    public mutating func discardTrain() { train.removeAll() }
}
