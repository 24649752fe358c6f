import CAllocationCount
import CTun
import PacketPath

/// Both ways of the packet path on one thread: a packet as the TUN gives it is sealed into a train, and the train, as a
/// socket would give it, is opened and joined.
struct PathLoop: ~Copyable {
    private var transmit: TransmitPath
    private var receive: ReceivePath
    private let key = AEADKey(words: SIMD4(1, 2, 3, 4))
    private let input: [UInt8]
    /// Packets that one turn carries.
    let packets: Int
    private var counter: UInt64 = 0
    private static let peer = PeerAddress(address: .v4(0xc000_0202), port: 51820)

    /// Nanoseconds and counts of one direction, summed over turns.
    struct Cost {
        var nanoseconds: UInt64 = 0
        var allocations: UInt64 = 0
        var references: UInt64 = 0
    }

    init(_ shape: SamplePacket, backend: AEADBackend) throws(PathError) {
        let sender = try TransmitPath(backend: backend)
        let receiver = try ReceivePath(discarding: backend)
        transmit = sender
        receive = receiver
        input = shape.bytes
        packets = shape.segments
    }

    /// Carries the packet once and adds what each direction cost.
    ///
    /// Loading, which a read from the TUN or the socket does in a tunnel, is outside of the cost.
    mutating func turn(_ sending: inout Cost, _ receiving: inout Cost) throws {
        let input = input
        guard transmit.loadSuperPacket(input.rawBytes) == .packet else { throw Self.fault("the packet was refused") }
        allocation_count_start()
        var start = now()
        transmit.begin(to: Self.peer, from: nil, tag: 1)
        let outcome = transmit.seal(key: key, prefix: 4, firstCounter: counter, mtu: 1420)
        sending.add(since: start)
        guard outcome == .complete, transmit.trainShape.count == packets else { throw Self.fault("the train is short") }
        counter &+= UInt64(packets)

        let stride = transmit.trainShape.stride
        let train = receive.load(transmit.trainBytes, stride: stride, from: Self.peer)
        allocation_count_start()
        start = now()
        receive.open(train, from: 0, count: packets, key: key)
        receive.commit()
        receive.flush()
        receiving.add(since: start)
        transmit.discardTrain()
    }

    /// Throws unless every packet that was sent was also opened and delivered.
    func check() throws {
        guard transmit.counters.packets == receive.counters.packets, receive.counters.drops == 0,
            transmit.counters.drops == 0
        else { throw Self.fault("packets were lost") }
    }

    /// Payload bytes moved in user space besides the cipher, per packet.
    var movedBytesPerPacket: Double {
        Double(transmit.counters.movedBytes + receive.counters.movedBytes) / Double(transmit.counters.packets)
    }

    private static func fault(_ cause: String) -> BenchmarkError {
        BenchmarkError("\(cause) on the path", advice: "This is a fault of the path or the suite.")
    }
}

extension PathLoop.Cost {
    /// Throws unless an allocation and a retain are seen, so that a count of 0 means something.
    static func checkCounting() throws {
        final class Object {}
        allocation_count_start()
        var kept: [Object] = []
        kept.append(Object())
        let copy = kept
        let counts = allocation_count_stop()
        withExtendedLifetime((kept, copy)) {}
        guard counts.allocations >= 2, counts.references >= 1 else {
            throw BenchmarkError(
                "the counters saw \(counts.allocations) allocations and \(counts.references) reference counts of a sample",
                advice: "This build or runtime hides them: the suite cannot tell anything.")
        }
    }

    fileprivate mutating func add(since start: UInt64) {
        nanoseconds += now() - start
        let counts = allocation_count_stop()
        allocations += counts.allocations
        references += counts.references
    }
}
