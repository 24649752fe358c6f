/// What became of the datagrams of one send.
public struct SendOutcome: Equatable, Sendable {
    /// Datagrams that the kernel took.
    public var sent: Int = 0
    /// Datagrams that were given up and counted.
    public var dropped: Int = 0
    /// The errno of the last one given up, 0 for none.
    public var error: Int32 = 0
    /// The source address was refused and the kernel chose another: forget the sticky one.
    public var sourceCleared: Bool = false
}

/// What is known about UDP_SEGMENT on the sockets in use, by family.
struct SendState {
    struct Family: BitwiseCopyable {
        var socket: UInt64 = 0
        /// EIO: a device on the route cannot complete checksums; holds for the socket.
        var refused: Bool = false
    }

    /// A segment size that the path to one destination did not take, until the next trial.
    struct Limit: BitwiseCopyable {
        var destination: PeerAddress = PeerAddress(address: .v4(0), port: 0)
        var segment: Int = 0
        var trainsLeft: Int = 0
    }

    static let trainsUntilTrial: Int = 4096

    let allowed: Bool
    private var families = InlineArray<2, Family>(repeating: Family())
    private var limits = InlineArray<4, Limit>(repeating: Limit())
    private var nextLimit: Int = 0

    init(allowed: Bool) { self.allowed = allowed }

    /// Whether a train of this segment size may go out in one call.
    mutating func mayTrain(_ socket: UDPSocket, _ destination: PeerAddress, segment: Int) -> Bool {
        guard allowed else { return false }
        let family = socket.family == 4 ? 0 : 1
        if families[family].socket != socket.identity { families[family] = Family(socket: socket.identity) }
        guard !families[family].refused else { return false }
        for index in limits.indices
        where limits[index].trainsLeft > 0 && limits[index].destination == destination
            && segment >= limits[index].segment
        {
            limits[index].trainsLeft -= 1
            return false
        }
        return true
    }

    mutating func refuse(_ socket: UDPSocket) { families[socket.family == 4 ? 0 : 1].refused = true }

    mutating func limit(_ destination: PeerAddress, segment: Int) {
        let known = limits.indices.first { limits[$0].destination == destination }
        let place = known ?? nextLimit
        if known == nil { nextLimit = (nextLimit + 1) % limits.count }
        limits[place] = Limit(destination: destination, segment: segment, trainsLeft: Self.trainsUntilTrial)
    }

    mutating func forgetLimits() { limits = InlineArray(repeating: Limit()) }
}

extension TransmitPath {
    /// Sends the train, in one call where the system allows it, and empties it.
    ///
    /// The socket has the destination's family.
    public mutating func flush(to socket: UDPSocket) -> SendOutcome {
        var outcome = SendOutcome()
        guard train.count > 0 else { return outcome }
        let length = UInt64(train.length)
        if train.count == 1 || !sendTrain(socket, &outcome) { sendSingly(socket, &outcome) }
        counters.datagrams &+= UInt64(outcome.sent)
        if outcome.dropped == 0 { counters.datagramBytes &+= length }
        train.removeAll()
        return outcome
    }

    /// Tries trains of any size again; call it after a change of routes.
    public mutating func forgetLearnedLimits() { sendState.forgetLimits() }

    // False when the datagrams are to be sent one by one.
    private mutating func sendTrain(_ socket: UDPSocket, _ outcome: inout SendOutcome) -> Bool {
        guard sendState.mayTrain(socket, train.destination, segment: train.stride) else { return false }
        let result = transmit(socket, 0, train.length, segment: train.stride, &outcome)
        if result >= 0 {
            counters.trains &+= 1
            outcome.sent += train.count
            return true
        }
        switch -result {
        case 5: sendState.refuse(socket)  // EIO
        case 22, 90: sendState.limit(train.destination, segment: train.stride)  // EINVAL, EMSGSIZE
        default:
            giveUp(train.count, result, &outcome)
            return true
        }
        counters.sendFallbacks &+= 1
        return false
    }

    private mutating func sendSingly(_ socket: UDPSocket, _ outcome: inout SendOutcome) {
        for index in 0..<train.count {
            let (offset, count) = train.range(index)
            let result = transmit(socket, offset, count, segment: 0, &outcome)
            guard result < 0 else {
                counters.singles &+= 1
                outcome.sent += 1
                continue
            }
            let full = result == -11 || result == -105
            giveUp(full ? train.count - index : 1, result, &outcome)
            if full { return }
        }
    }

    private mutating func giveUp(_ count: Int, _ result: Int, _ outcome: inout SendOutcome) {
        outcome.dropped += count
        outcome.error = Int32(truncatingIfNeeded: -result)
        switch -result {
        case 11, 105, 12: counters.drop(.noBuffer, count: count)
        case 90: counters.drop(.tooLarge, count: count)
        default: counters.drop(.sendError, count: count)
        }
    }

    private mutating func transmit(
        _ socket: UDPSocket, _ offset: Int, _ count: Int, segment: Int, _ outcome: inout SendOutcome
    ) -> Int {
        let result = socket.transmit(
            slab.view(Self.output), Slab.dataOffset + offset, count, segment: segment, to: train.destination,
            from: train.source, trafficClass: train.trafficClass)
        if result.sourceCleared {
            train.source = nil
            outcome.sourceCleared = true
        }
        return result.count
    }
}
