internal import Dispatch
internal import Foundation
internal import ProviderKit
internal import Synchronization

/// Watches all sessions of an application over one connection, on a thread of its own.
///
/// What it knows never goes back in time: the replies of other calls are merged by their sequence.
final class SessionMonitor: Sendable {
    private struct State {
        var sessions: [String: SessionState] = [:]
        var statusReaders: [UInt64: (identifier: String, stream: AsyncStream<VPNStatus>.Continuation)] = [:]
        var changeReaders: [UInt64: AsyncStream<String>.Continuation] = [:]
        var nextReader: UInt64 = 0
        var socket: ClientSocket?
        var isStopped = false
    }

    /// The wait after a connection was lost; it doubles up to ``longestDelay``.
    private static let firstDelay = 0.05
    private static let longestDelay = 5.0

    private let socketPath: String
    private let application: String?
    private let state = Mutex(State())
    /// Serves one start after the other.
    private let starting = Mutex(false)
    /// Ends the wait before the next attempt to connect.
    private let lookNow = DispatchSemaphore(value: 0)

    init(socketPath: String, application: String?) {
        self.socketPath = socketPath
        self.application = application
    }

    /// Begins to watch, and returns when the first snapshot is there; no more than a look when it watches already.
    func start() throws {
        try starting.withLock { isStarted in
            guard !isStarted else {
                // A manager that was away may be back: no need to wait for the next look.
                if state.withLock({ $0.socket == nil }) { lookNow.signal() }
                return
            }
            var frames = FrameBuffer(limit: ManagerClient.replyLimit)
            let socket = try connect(&frames)
            isStarted = true
            let thread = Thread { [self, frames] in run(socket, frames) }
            thread.name = "session-monitor"
            thread.start()
        }
    }

    /// Ends the thread and every sequence.
    func stop() {
        let (socket, statuses, changes) = state.withLock { state in
            state.isStopped = true
            defer {
                state.statusReaders = [:]
                state.changeReaders = [:]
            }
            return (state.socket, state.statusReaders.values.map(\.stream), Array(state.changeReaders.values))
        }
        socket?.shutDown()
        lookNow.signal()
        for stream in statuses { stream.finish() }
        for stream in changes { stream.finish() }
    }

    /// What is known of a session.
    func session(_ identifier: String) -> SessionState? { state.withLock { $0.sessions[identifier] } }

    /// Takes what another call learned.
    func merge(_ sessions: [SessionState]) {
        state.withLock { state in
            for session in sessions { Self.merge(session, into: &state) }
        }
    }

    /// The changes of a session's status from now on.
    func statusChanges(of identifier: String) -> AsyncStream<VPNStatus> {
        let (stream, continuation) = AsyncStream.makeStream(of: VPNStatus.self)
        let number = state.withLock { state in
            state.nextReader += 1
            state.statusReaders[state.nextReader] = (identifier, continuation)
            return state.nextReader
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.statusReaders.removeValue(forKey: number) }
        }
        return stream
    }

    /// The identifiers of configurations that were saved or removed, from now on.
    func configurationChanges() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        let number = state.withLock { state in
            state.nextReader += 1
            state.changeReaders[state.nextReader] = continuation
            return state.nextReader
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.changeReaders.removeValue(forKey: number) }
        }
        return stream
    }

    private func run(_ first: ClientSocket, _ frames: FrameBuffer) {
        read(first, frames)
        var delay = Self.firstDelay
        while !state.withLock({ $0.isStopped }) {
            state.withLock { $0.socket = nil }
            _ = lookNow.wait(timeout: .now() + delay)
            var frames = FrameBuffer(limit: ManagerClient.replyLimit)
            do {
                let socket = try connect(&frames)
                delay = Self.firstDelay
                read(socket, frames)
            } catch {
                // With the manager end its sessions: their workers do not outlive it.
                forgetSessions()
                delay = min(delay * 2, Self.longestDelay)
            }
        }
    }

    private func connect(_ frames: inout FrameBuffer) throws -> ClientSocket {
        let socket = try ClientSocket(path: socketPath)
        let call = try WireCodec.call(
            ManagerMethod.watch.qualifiedName, ManagerMessages.Application(application: application), more: true)
        try socket.send(call, seconds: ManagerClient.patience)
        while true {
            if let frame = try frames.next() {
                try take(frame)
                break
            }
            let piece = try socket.receive(seconds: ManagerClient.patience)
            if piece.isEmpty { throw ControlError(.connectionLost) }
            frames.append(piece)
        }
        let isStopped = state.withLock { state in
            state.socket = socket
            return state.isStopped
        }
        if isStopped { socket.shutDown() }
        return socket
    }

    /// Takes changes until the connection ends.
    private func read(_ socket: ClientSocket, _ buffer: FrameBuffer) {
        var frames = buffer
        do {
            while true {
                while let frame = try frames.next() { try take(frame) }
                let piece = try socket.receive(seconds: nil)
                if piece.isEmpty { return }
                frames.append(piece)
            }
        } catch {
            // The next connection brings the whole truth again.
        }
    }

    private func take(_ frame: [UInt8]) throws {
        let change = try ManagerClient.parameters(of: frame, as: ManagerMessages.Change.self)
        state.withLock { state in
            for session in change.sessions { Self.merge(session, into: &state) }
            for identifier in change.changed {
                for reader in state.changeReaders.values { reader.yield(identifier) }
            }
        }
    }

    private func forgetSessions() {
        state.withLock { state in
            for (identifier, session) in state.sessions
            where session.status != .disconnected && session.status != .invalid {
                state.sessions[identifier]?.status = .disconnected
                state.sessions[identifier]?.connectedSince = nil
                state.sessions[identifier]?.interface = nil
                Self.tell(.disconnected, identifier, state)
            }
        }
    }

    private static func merge(_ session: SessionState, into state: inout State) {
        let known = state.sessions[session.identifier]
        if let known, known.service == session.service, known.sequence >= session.sequence { return }
        state.sessions[session.identifier] = session
        if known?.status != session.status { tell(session.status, session.identifier, state) }
    }

    private static func tell(_ status: VPNStatus, _ identifier: String, _ state: State) {
        for reader in state.statusReaders.values where reader.identifier == identifier { reader.stream.yield(status) }
    }
}
