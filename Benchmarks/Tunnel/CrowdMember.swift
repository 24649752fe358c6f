import WireGuard

/// One peer of a crowd in its handshake.
final class CrowdMember {
    let number: Int
    let initiation: [UInt8]
    private var half: Half

    static func secret(_ number: Int) -> PrivateKey {
        var keys = CountingRandom(offset: UInt64(number + 1) << 32)
        return PrivateKey(keys.nextKey())
    }

    init(_ number: Int, gateway: PublicKey, at time: Moment) throws {
        var half = Half(secret: Self.secret(number), peer: gateway, port: 1)
        half.random = CountingRandom(offset: now())
        initiation = try half.initiate(time)
        self.number = number
        self.half = half
    }

    /// Whether a message is the response to our initiation: it carries our index (whitepaper section 5.4.3).
    func isAnswered(by message: [UInt8]) -> Bool {
        message.count == MessageSize.response && message[8..<12] == initiation[4..<8]
    }

    /// Takes the response and returns the session.
    func complete(_ response: [UInt8], at time: Moment) throws -> CrowdSession {
        _ = half.take(response, from: Half.endpoint(2), at: time)
        let index = initiation[4..<8].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard let grant = half.firstGrant(at: time),
            case .open(let open) = half.transport.beginOpen(receiverIndex: index, now: time.instant)
        else {
            throw BenchmarkError("a response is not authentic", advice: "Is this the gateway's key?")
        }
        return CrowdSession(number: number, index: index, outward: grant, inwardKey: open.key)
    }
}

/// A session of a peer of a crowd: keys and indices, and nothing that asks for time.
struct CrowdSession {
    /// The number of the member.
    let number: Int
    /// Our index, which the gateway puts into what it sends to us.
    let index: UInt32
    private let outwardKey: Key256
    private let inwardKey: Key256
    private let gatewayIndex: UInt32
    private var counter: UInt64

    fileprivate init(number: Int, index: UInt32, outward: SealGrant, inwardKey: Key256) {
        self.number = number
        self.index = index
        outwardKey = outward.key
        gatewayIndex = outward.receiverIndex
        counter = outward.firstCounter
        self.inwardKey = inwardKey
    }

    /// The datagram of an inner packet; an empty one is a keepalive.
    mutating func seal(_ packet: [UInt8]) -> [UInt8] {
        defer { counter += 1 }
        return TransportMessage.seal(
            packet, paddedTo: Padding.paddedLength(of: packet.count, mtu: 0), key: outwardKey,
            header: DataHeader(receiverIndex: gatewayIndex, counter: counter))
    }

    /// The inner packet of a datagram with its padding; nil if it is not authentic.
    func open(_ datagram: [UInt8]) -> [UInt8]? { TransportMessage.open(datagram, key: inwardKey) }
}
