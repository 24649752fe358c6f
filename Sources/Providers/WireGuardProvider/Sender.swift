import PacketPath
import Synchronization
import WireGuard

/// Key and counters for the packet in a path, and what its datagrams are made with.
struct SealPermit {
    let grant: SealGrant
    /// The local address that the datagrams leave from.
    let source: LocalAddress?
    let mtu: Int
}

/// Seals packets into a train for one session at a time, and sends it.
struct Sender: ~Copyable {
    var path: TransmitPath
    var drops = DropCounters()
    /// The sockets to send through, renewed while the train is empty.
    var view = SocketExchange.View()
    private let engine: Engine
    /// Where the train goes, and who it is for.
    private var train: (endpoint: Endpoint, source: LocalAddress?, peer: PeerIndex)?
    /// For the packet in the path that is not, or not wholly, sealed; set between `take` and `finish`.
    private var pending: SealPermit?

    init(_ engine: Engine, _ path: consuming TransmitPath) {
        self.engine = engine
        self.path = path
    }

    // MARK: Run to completion

    /// Seals the packet in the path, and sends whenever the train is full or another's.
    mutating func seal(_ permit: SealPermit) {
        if !isFor(permit) {
            flush()
            begin(permit)
        }
        while !sealRest(permit) { flush() }
    }

    /// Seals an empty packet.
    mutating func sealKeepalive(_ permit: SealPermit) {
        if !isFor(permit) {
            flush()
            begin(permit)
        }
        let key = AEADKey(words: permit.grant.key.words)
        while path.sealEmpty(key: key, prefix: permit.prefix, counter: permit.grant.firstCounter) == .trainFull {
            flush()
        }
    }

    /// Sends the train.
    mutating func flush() {
        guard !path.isEmpty, let (endpoint, source, peer) = train else { return }
        guard let socket = view.sockets.socket(for: endpoint) else {
            drops[.noEndpoint] += UInt64(path.trainShape.count)
            return path.discardTrain()
        }
        let outcome = path.flush(to: socket)
        guard outcome.sourceCleared else { return }
        // The address that the peer spoke to is gone: let the kernel choose until the peer is heard again.
        train = (endpoint, nil, peer)
        engine.shared.withLock { shared in
            let slot = Int(peer.slot)
            if slot < shared.sources.count, shared.sources[slot] == source { shared.sources[slot] = nil }
        }
    }

    /// Adds the drops to those of the engine.
    mutating func publishDrops() {
        engine.statistics.withLock { $0.transmit.add(drops) }
        drops = DropCounters()
    }

    // MARK: In three steps, for several threads

    /// Seals a plain packet that fits into the train; leaves any other for `work`, and then nothing more may be read.
    ///
    /// - Returns: Whether more may be read.
    mutating func take(_ permit: SealPermit) -> Bool {
        if path.packet.segmentCount == 1, joins(permit), sealRest(permit) { return true }
        pending = permit
        return false
    }

    /// Seals as much as one train takes.
    mutating func work() {
        guard let permit = pending, joins(permit), sealRest(permit) else { return }
        pending = nil
    }

    /// Sends the train, and what there was no room for, after everything that was read before.
    mutating func finish() {
        if let permit = pending.take() { seal(permit) }
        flush()
        publishDrops()
    }

    // MARK: Inside

    /// Whether the train is empty or already for the same session and way; an empty one becomes so.
    private mutating func joins(_ permit: SealPermit) -> Bool {
        if isFor(permit) { return true }
        guard path.isEmpty else { return false }
        begin(permit)
        return true
    }

    private func isFor(_ permit: SealPermit) -> Bool {
        guard let train else { return false }
        return train.peer == permit.grant.peer && train.endpoint == permit.grant.endpoint
            && train.source == permit.source && path.tag == UInt64(permit.grant.receiverIndex)
    }

    private mutating func begin(_ permit: SealPermit) {
        let grant = permit.grant
        train = (grant.endpoint, permit.source, grant.peer)
        path.begin(to: grant.endpoint.onPath, from: permit.source, tag: UInt64(grant.receiverIndex))
    }

    /// Seals what is left of the packet; false when the train is full before.
    private mutating func sealRest(_ permit: SealPermit) -> Bool {
        let key = AEADKey(words: permit.grant.key.words)
        return path.seal(key: key, prefix: permit.prefix, firstCounter: permit.grant.firstCounter, mtu: permit.mtu)
            == .complete
    }
}

extension SealPermit {
    /// The first eight bytes of each datagram.
    fileprivate var prefix: UInt64 { DataHeader(receiverIndex: grant.receiverIndex, counter: 0).words.0 }
}
