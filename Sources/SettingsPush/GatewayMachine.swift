public import WireGuard

/// The gateway's end of the protocol for all of its peers: messages and instants in, outputs out, one deadline.
///
/// It keeps no state for a request. What it remembers of a peer is how much may be sent to it, what it is known to hold,
/// and what is to be repeated: a NOTIFY until the peer has dealt with it, a GOAWAY until it answers. Memory of peers that are
/// silent is given up.
///
/// Call order: any method that takes an instant, then ``pollOutput()`` until nil, then look at ``nextTimeout`` again.
public struct GatewayMachine: Sendable {
    /// Messages that were not understood, per reason; for statistics.
    public private(set) var droppedMessages: [ReasonCode: UInt64] = [:]

    var peers: [PublicKey: Peer] = [:]
    /// Peers for which something is due at some time; most peers are not in it.
    var pending: Set<PublicKey> = []
    /// INVARIANT: not after the deadline of any peer of `pending`; looking at ten thousand for each message would cost more
    /// than the message.
    var earliest = Instant.distantFuture
    var random: SeededRandom
    private var outputs: [GatewayOutput] = []
    private var polled = 0

    /// What is remembered of one peer.
    struct Peer: Sendable {
        var budget: SendBudget
        var isUp = false
        /// What it said that it holds.
        var holding: SnapshotVersion?
        /// When the changes of its snapshot are announced, and when the first of them came.
        var change: (due: Instant, first: Instant)?
        var notice: Announcement?
        var goAway: Retransmission?
    }

    /// A NOTIFY that is repeated until the peer says that it holds the snapshot, or what became of it.
    struct Announcement: Sendable {
        let version: SnapshotVersion
        let transaction: UInt32
        var delay: TimeSpan
        var next: Instant
    }

    /// Makes a machine; the seed keeps two gateways out of step.
    public init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// Handles a message that came through a peer's session.
    public mutating func handleMessage(
        _ bytes: [UInt8], from key: PublicKey, now: Instant, source: inout some SnapshotSource
    ) {
        let message: Message
        do throws(SettingsFinding) { message = try Message(bytes: bytes) } catch {
            drop(bytes, from: key, error.reason, now)
            return
        }
        touch(key, now)
        // Nothing comes from a peer without a session.
        peers[key]?.isUp = true
        switch message.body {
        case .hello(let hello): answer(hello, message.transaction, key, now, &source)
        case .get(let get): answer(get, message.transaction, key, now, &source)
        case .result(let result):
            // Nothing is kept of a result that cannot be acknowledged: the peer sends it again.
            guard send(.resultAcknowledgement(result.version), message.transaction, key, now) else { return }
            if result.status == .applied || result.status == .filtered { peers[key]?.holding = result.version }
            endNotice(of: result.version, key)
            emit(.result(result, of: key))
        case .release:
            guard send(.releaseAcknowledgement, message.transaction, key, now) else { return }
            peers[key]?.holding = nil
            peers[key]?.notice = nil
            emit(.released(key))
        case .goAwayAcknowledgement:
            guard peers[key]?.goAway?.transaction == message.transaction else { return }
            peers[key]?.goAway = nil
            emit(.left(key))
        case .error(let reason): droppedMessages[reason, default: 0] += 1
        case .helloAcknowledgement, .block, .resultAcknowledgement, .notify, .releaseAcknowledgement, .goAway:
            droppedMessages[.unknownMessage, default: 0] += 1
        }
    }

    /// Says that a peer completed a handshake: what waits for it is sent at once.
    public mutating func sessionUp(_ key: PublicKey, now: Instant) {
        touch(key, now)
        peers[key]?.isUp = true
        peers[key]?.notice?.next = now
        schedule(key)
    }

    /// Says that a peer's session ended: nothing is repeated until it is back.
    public mutating func sessionLost(_ key: PublicKey) {
        peers[key]?.isUp = false
        if peers[key]?.goAway != nil {
            peers[key]?.goAway = nil
            emit(.left(key))
        }
    }

    /// Says that a peer was removed from the registry.
    public mutating func removePeer(_ key: PublicKey) {
        peers[key] = nil
        pending.remove(key)
    }

    /// The next thing to do; call it until nil after each other call.
    public mutating func pollOutput() -> GatewayOutput? {
        guard polled < outputs.count else {
            outputs.removeAll(keepingCapacity: true)
            polled = 0
            return nil
        }
        defer { polled += 1 }
        return outputs[polled]
    }

    mutating func emit(_ output: GatewayOutput) { outputs.append(output) }

    mutating func touch(_ key: PublicKey, _ now: Instant) {
        if peers[key] == nil { peers[key] = Peer(budget: SendBudget(at: now)) }
    }

    /// Sends a message if the peer's budget allows it.
    @discardableResult
    mutating func send(_ body: Message.Body, _ transaction: UInt32, _ key: PublicKey, _ now: Instant) -> Bool {
        send(Message(transaction: transaction, body: body).bytes, key, now)
    }

    @discardableResult
    mutating func send(_ bytes: [UInt8], _ key: PublicKey, _ now: Instant) -> Bool {
        touch(key, now)
        guard peers[key]?.budget.take(bytes.count, at: now) == true else { return false }
        emit(.send(bytes, to: key))
        return true
    }

    /// Counts a message that is none, and says why to a client that can make something of it.
    private mutating func drop(_ bytes: [UInt8], from key: PublicKey, _ reason: ReasonCode, _ now: Instant) {
        droppedMessages[reason, default: 0] += 1
        guard let transaction = Message.transactionToRefuse(in: bytes) else { return }
        send(.error(reason), transaction, key, now)
    }
}
