internal import CTun

/// The way from UDP to the TUN: receive trains, open, join, write.
///
/// Owned by one thread.
///
/// ```
/// receive(from:) -> n               for each train 0 ..< n, from datagram i on:
///   prefix(of: train, at: i)          not a data message: hand datagram(train, i) to the control thread
///   runLength(of: train, from: i)     datagrams of the same prefix: find the key
///   open(train, from: i, count:, key:)
///     packets: check the replay window and the inner source; set keep = false to drop
///   commit()
/// flush()                           write what is still open; then wait
/// ```
/// Packets are opened straight into the place that they have in a super-packet, so that in the common case no payload is
/// copied: the bytes in front of the place, which the packet's header overwrites, are kept aside and put back.
public struct ReceivePath: ~Copyable {
    /// The most datagrams that one `open` takes.
    public static let openCapacity: Int = 64
    /// The most trains that one `receive` takes.
    public static let batch: Int = UDPBatch.size
    static let flows: Int = 8
    /// Flow slots, and one for the packets that are being opened.
    static let flowSlots: Range<Int> = batch..<(batch + flows + 1)
    static let scratch: Int = batch + flows + 1
    /// Scratch memory for one header each, then for the bytes that a header overwrites, then for the segmenter.
    static let asideSize: Int = 128
    static let savedOffset: Int = openCapacity * asideSize
    static let templateOffset: Int = savedOffset + 512
    /// A run of this many bytes is worth its own write; a shorter one waits for more.
    static let longRun: Int = 16_384

    /// What this path did so far.
    public internal(set) var counters: PathCounters = PathCounters()
    /// The errno of the last failed write to the TUN, 0 for none; 77 (EBADFD) says that the interface is gone.
    public internal(set) var writeError: Int32 = 0

    let slab: Slab
    let aead: AEAD
    let output: Int32
    var joinsTCP: Bool
    var joinsUDP: Bool
    private let messages: UDPBatch
    private var trains = FixedArray(repeating: ReceivedTrain(), count: Self.batch)
    /// The sockets' own drop counts as last seen, by family; several paths on the same sockets hand it round.
    public var overflow: InlineArray<2, UInt32> = InlineArray(repeating: 0)

    // What is being opened.
    var opened = FixedArray(repeating: OpenedPacket(), count: Self.openCapacity)
    var openedCount: Int = 0
    /// One for each packet, and one for the flow that is continued.
    var runs = FixedArray(repeating: Run(), count: Self.openCapacity + 1)
    var runCount: Int = 0
    /// The run 0 is a flow of the table that is continued.
    var continuesFlow: Bool = false
    var openSlot: Int = 0

    // Open super-packets, oldest first, each in a slot of its own.
    var table = FixedArray(repeating: Run(), count: Self.flows)
    var tableCount: Int = 0
    /// The slot of the flow that was served last, -1 for none.
    var recentSlot: Int = -1

    /// A path that writes to `tun`, with its own slots and cipher state.
    public init(tun: TUNDevice, backend: AEADBackend, options: PathOptions = PathOptions()) throws(PathError) {
        try self.init(
            output: tun.descriptor, joinsTCP: options.tunTSO && tun.offloads.isSuperset(of: [.tso4, .tso6]),
            joinsUDP: options.tunUSO && tun.offloads.isSuperset(of: [.uso4, .uso6]), backend: backend)
    }

    /// A path that joins packets and writes them nowhere, for measuring.
    package init(discarding backend: AEADBackend) throws(PathError) {
        try self.init(output: -1, joinsTCP: true, joinsUDP: true, backend: backend)
    }

    private init(output: Int32, joinsTCP: Bool, joinsUDP: Bool, backend: AEADBackend) throws(PathError) {
        let slab = try Slab(count: Self.scratch + 1)
        let aead = try AEAD(backend)
        let messages = try UDPBatch()
        for slot in 0..<Self.batch {
            messages.use(slab.view(slot).slice(Slab.dataOffset, Slab.dataSize), at: slot)
        }
        self.slab = slab
        self.aead = aead
        self.messages = messages
        self.output = output
        self.joinsTCP = joinsTCP
        self.joinsUDP = joinsUDP
    }

    /// Receives up to `limit` trains without waiting: the number of trains, 0 when nothing waits, or a negative errno.
    ///
    /// The limit is 1 to `batch`.
    public mutating func receive(from socket: UDPSocket, limit: Int = ReceivePath.batch) -> Int {
        let count = messages.receive(socket.descriptor, limit)
        guard count > 0 else { return count == -11 ? 0 : Int(count) }
        let family = socket.family == 4 ? 0 : 1
        for index in 0..<Int(count) {
            let message = messages.message(index)
            trains[index] = ReceivedTrain(message, slot: index)
            if message.truncated {
                counters.drop(.tooLarge)
                trains[index].length = 0
            }
            if trains[index].count > 1 { counters.trains &+= 1 } else { counters.singles &+= 1 }
            counters.datagrams &+= UInt64(trains[index].count)
            counters.datagramBytes &+= UInt64(trains[index].length)
            // The kernel's count only grows, and is absent from messages that saw no drop.
            if message.overflow != 0, message.overflow != overflow[family] {
                counters.kernelDrops &+= UInt64(message.overflow &- overflow[family])
                overflow[family] = message.overflow
            }
        }
        return Int(count)
    }

    /// Train `index` of the last receive.
    public func train(_ index: Int) -> ReceivedTrain { trains[index] }

    /// Takes these bytes as a train, as if they had been received.
    package mutating func load(
        _ bytes: RawSpan, stride: Int, from peer: PeerAddress, trafficClass: UInt8 = 0
    ) -> ReceivedTrain {
        precondition(bytes.byteCount <= Slab.dataSize, "a train is at most 64 KiB")
        slab.view(0).copy(from: bytes, to: Slab.dataOffset)
        var train = ReceivedTrain()
        train.from = peer
        train.length = bytes.byteCount
        train.stride = stride
        train.trafficClass = trafficClass
        return train
    }

    /// The bytes of a datagram.
    @_lifetime(borrow self)
    public func datagram(_ train: ReceivedTrain, _ index: Int) -> RawSpan {
        slab.bytes(of: train.slot, from: index * train.stride, count: train.datagramLength(index))
    }

    /// The first eight bytes of a datagram as a little-endian number, nil when it is shorter.
    public func prefix(of train: ReceivedTrain, at index: Int) -> UInt64? {
        guard train.datagramLength(index) >= 8 else { return nil }
        return slab.view(train.slot).load64(Slab.dataOffset + index * train.stride).byteSwapped
    }

    /// How many datagrams from `index` on have the same first eight bytes and room for counter and tag, at most `openCapacity`.
    public func runLength(of train: ReceivedTrain, from index: Int) -> Int {
        guard let first = prefix(of: train, at: index) else { return 0 }
        var count = 0
        while count < Self.openCapacity, train.datagramLength(index + count) >= TransmitPath.overhead,
            prefix(of: train, at: index + count) == first
        {
            count += 1
        }
        return count
    }

    /// A copy of the packet at a place of ``packets``, which is one with the status `.packet`; before `commit`.
    public func packetBytes(at place: Int) -> [UInt8] {
        let packet = opened[place]
        let run = runs[Int(packet.run)]
        let headers = packet.headerAside ? slab.view(Self.scratch) : slab.view(run.slot)
        let headerLength = packet.headerAside ? run.headerLength : packet.payloadOffset - packet.headerOffset
        let payload = slab.view(run.slot)
        return (0..<packet.length).map { index in
            index < headerLength
                ? headers.load8(packet.headerOffset + index)
                : payload.load8(packet.payloadOffset + index - headerLength)
        }
    }

    /// What the last `open` found, in the order of the datagrams.
    public var packets: MutableSpan<OpenedPacket> {
        @_lifetime(&self)
        mutating get { opened.first(openedCount) }
    }
}

extension ReceivedTrain {
    fileprivate init(_ message: ctun_udp_message, slot: Int) {
        self.slot = slot
        from = PeerAddress(message.from) ?? PeerAddress(address: .v4(0), port: 0)
        to = LocalAddress(message.to)
        trafficClass = message.tos
        length = Int(message.length)
        stride = Int(message.segment)
    }
}
