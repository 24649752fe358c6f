internal import Control

/// The control socket: accepts callers, cuts their bytes into calls, and sends what answers them.
///
/// No caller can hold up another: calls are taken in small portions in turn, an incomplete call and an unread reply have a
/// deadline, and what waits in memory for one connection is bounded.
final class ControlServer {
    /// What becomes of a call.
    enum Outcome {
        /// Bytes that answer it; none for a call that wants no answer.
        case reply([UInt8])
        /// The answer comes by ``complete(_:with:)``.
        case later
        /// Bytes that answer it, and more will follow until the caller goes.
        case stream(ServerConnection.Stream, [UInt8])
    }

    /// Calls of one connection before the others have their turn.
    private static let callsPerTurn = 16
    private static let acceptsPerTurn = 64
    /// Connections of one user that is not root.
    private static let userLimit = 128
    /// Descriptors that sessions and files have for themselves.
    private static let reserve = 1024
    /// How long a call may be incomplete, and a reply unread.
    static let patience = 30.0
    private static let nanosecondsPerSecond = 1e9

    private let loop: EventLoop
    private let listener: Descriptor
    private let limit: Int
    private let isStranger: (Caller) -> Bool
    private let serve: (IncomingCall, ServerConnection) -> Outcome
    /// Rings while complete calls wait for their turn.
    private let turns: Bell
    private var waiting: [UInt64] = []
    private var connections: [UInt64: ServerConnection] = [:]
    private var streaming: Set<UInt64> = []
    private var counts: [UInt32: Int] = [:]
    private var listenerToken: UInt64 = 0
    private var inspection: UInt64?

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - path: Where.
    ///   - loop: What calls back when something came.
    ///   - descriptorLimit: The descriptors that the process may open.
    ///   - isStranger: Whether a caller may administer nothing, so that its calls are short.
    ///   - serve: Answers a call.
    /// - Throws: ``SystemCallError`` when nothing can listen there.
    init(
        path: String, loop: EventLoop, descriptorLimit: Int, isStranger: @escaping (Caller) -> Bool,
        serve: @escaping (IncomingCall, ServerConnection) -> Outcome
    ) throws(SystemCallError) {
        self.loop = loop
        self.isStranger = isStranger
        self.serve = serve
        limit = max(64, descriptorLimit - Self.reserve)
        listener = try ManagerSocket.listen(path)
        turns = try Bell()
        listenerToken = try loop.watch(listener.number) { [unowned self] in acceptCallers() }
        _ = try loop.watch(turns.descriptor.number) { [unowned self] in takeTurns() }
    }

    /// Every connection that is sent a stream.
    var streams: [ServerConnection] { streaming.compactMap { connections[$0] } }

    /// Answers a call whose answer was to come later; nothing when its caller is gone.
    func complete(_ token: UInt64, with reply: [UInt8]) {
        guard let connection = connections[token], connection.isBusy else { return }
        connection.isBusy = false
        send(reply, to: connection)
        queueTurn(connection)
    }

    /// Sends one more reply of a stream.
    func send(_ bytes: [UInt8], to connection: ServerConnection) {
        guard connections[connection.token] != nil else { return }
        guard connection.enqueue(bytes) else { return drop(connection) }
        flush(connection)
    }

    /// Ends every connection and the listener.
    func close() {
        for connection in connections.values { drop(connection) }
        loop.forget(listener.number, token: listenerToken)
        listener.close()
    }

    private func acceptCallers() {
        for _ in 0..<Self.acceptsPerTurn {
            do throws(SystemCallError) {
                guard let (socket, caller) = try ManagerSocket.accept(listener) else { return }
                let mayJoin = caller.isRoot || (counts[caller.user, default: 0] < Self.userLimit)
                // What is not kept is closed with its last reference.
                guard mayJoin, connections.count < limit else { continue }
                try add(socket, caller)
            } catch {
                // No descriptor is left: the callers wait in the queue of the socket until one is.
                try? loop.update(listener.number, token: listenerToken, reads: false, writes: false)
                loop.schedule(after: 1) { [unowned self] in
                    try? loop.update(listener.number, token: listenerToken, reads: true, writes: false)
                }
                return
            }
        }
    }

    private func add(_ socket: Descriptor, _ caller: Caller) throws(SystemCallError) {
        var token: UInt64 = 0
        // The handler finds the connection by its token, which is known once the descriptor is watched.
        let box = TokenBox()
        token = try loop.watch(socket.number) { [unowned self] in ready(box.token) }
        box.token = token
        connections[token] = ServerConnection(
            socket, caller: caller, token: token, isStranger: isStranger(caller))
        counts[caller.user, default: 0] += 1
    }

    private final class TokenBox { var token: UInt64 = 0 }

    private func ready(_ token: UInt64) {
        guard let connection = connections[token] else { return }
        flush(connection)
        guard connections[token] != nil, !connection.inputEnded else { return }
        do {
            guard let piece = try ManagerSocket.receive(connection.socket) else { return }
            if piece.isEmpty { return endInput(connection) }
            // Whoever is sent a stream has nothing more to say.
            guard connection.stream == nil else { return }
            connection.input.append(piece)
            takeCalls(connection)
        } catch {
            drop(connection)
        }
    }

    private func endInput(_ connection: ServerConnection) {
        connection.inputEnded = true
        guard connection.pending > 0 else { return drop(connection) }
        updateInterest(connection)
    }

    private func takeTurns() {
        turns.silence()
        let tokens = waiting
        waiting = []
        for token in tokens {
            if let connection = connections[token] { takeCalls(connection) }
        }
    }

    private func queueTurn(_ connection: ServerConnection) {
        guard connections[connection.token] != nil else { return }
        waiting.append(connection.token)
        turns.ring()
    }

    /// Serves complete calls of one connection, up to its portion.
    private func takeCalls(_ connection: ServerConnection) {
        do {
            var taken = 0
            while !connection.isBusy, !connection.isCongested, connection.stream == nil,
                connections[connection.token] != nil
            {
                guard taken < Self.callsPerTurn else {
                    queueTurn(connection)
                    break
                }
                guard let frame = try connection.input.next() else { break }
                taken += 1
                answer(try IncomingCall(frame: frame), connection)
            }
            guard connections[connection.token] != nil else { return }
            if taken > 0 { connection.partialSince = nil }
            let waits = connection.isBusy || connection.isCongested || taken == Self.callsPerTurn
            let isPartial = connection.input.count > 0 && !waits
            connection.partialSince = isPartial ? connection.partialSince ?? AlarmClock.now : nil
            updateInterest(connection)
            inspectLater(connection)
        } catch {
            drop(connection)
        }
    }

    private func answer(_ call: IncomingCall, _ connection: ServerConnection) {
        switch serve(call, connection) {
        case .reply(let bytes): if !call.oneway { send(bytes, to: connection) }
        case .later: connection.isBusy = true
        case .stream(let stream, let bytes):
            send(bytes, to: connection)
            connection.stream = stream
            if connections[connection.token] != nil { streaming.insert(connection.token) }
        }
    }

    private func flush(_ connection: ServerConnection) {
        do {
            try connection.flush(at: AlarmClock.now)
        } catch {
            return drop(connection)
        }
        if connection.inputEnded, connection.pending == 0 { return drop(connection) }
        if connection.hasCalls, !connection.isBusy, !connection.isCongested { queueTurn(connection) }
        updateInterest(connection)
        inspectLater(connection)
    }

    /// Reads nothing more from a caller whose calls or replies wait already.
    private func updateInterest(_ connection: ServerConnection) {
        let isFull = connection.isCongested || connection.hasCalls
        let reads = !connection.inputEnded && !connection.isBusy && !isFull
        let writes = connection.pending > 0
        guard reads != connection.reads || writes != connection.writes else { return }
        connection.reads = reads
        connection.writes = writes
        do {
            try loop.update(connection.socket.number, token: connection.token, reads: reads, writes: writes)
        } catch {
            drop(connection)
        }
    }

    private func inspectLater(_ connection: ServerConnection) {
        guard inspection == nil, connection.partialSince != nil || connection.stalledSince != nil else { return }
        inspection = loop.schedule(after: Self.patience / 4) { [unowned self] in inspect() }
    }

    /// Drops callers whose call does not end or whose reply stays unread.
    private func inspect() {
        inspection = nil
        let now = AlarmClock.now
        let patience = UInt64(Self.patience * Self.nanosecondsPerSecond)
        for connection in connections.values {
            let since = [connection.partialSince, connection.stalledSince].compactMap(\.self).min()
            if let since, now - since > patience { drop(connection) } else { inspectLater(connection) }
        }
    }

    private func drop(_ connection: ServerConnection) {
        guard connections.removeValue(forKey: connection.token) != nil else { return }
        streaming.remove(connection.token)
        loop.forget(connection.socket.number, token: connection.token)
        connection.socket.close()
        counts[connection.caller.user, default: 1] -= 1
        if counts[connection.caller.user] == 0 { counts[connection.caller.user] = nil }
    }
}
