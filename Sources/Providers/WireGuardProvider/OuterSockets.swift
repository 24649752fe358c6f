import PacketPath
import ProviderKit
import Synchronization
import WireGuard

/// Opens the outer sockets of an engine: anew when port or mark change, and only while the interface is up.
///
/// Its calls block for as long as the host takes to open sockets, so they come from threads that serve nobody else.
final class OuterSockets: Sendable {
    /// What the sockets are to be.
    private struct State {
        /// The port that is asked for, 0 for any; once it was open, the one that came of that.
        var port: UInt16
        /// The mark that is asked for, nil for the host's own.
        var mark: UInt32?
        var isUp: Bool
        var hasComplained = false
    }

    private let engine: Engine
    private let context: any ProviderContext
    private let state: Mutex<State>

    /// Takes over the sockets of an engine.
    ///
    /// - Parameters:
    ///   - engine: The engine with the sockets that are open already, if any.
    ///   - context: The host.
    ///   - mark: The mark that is asked for, nil for the host's own.
    ///   - isUp: Whether the interface is up.
    init(_ engine: Engine, _ context: any ProviderContext, mark: UInt32?, isUp: Bool) {
        self.engine = engine
        self.context = context
        state = Mutex(State(port: engine.exchange.sockets.port ?? 0, mark: mark, isUp: isUp))
    }

    /// What the control protocol shows: the port that is in use, else the one that is asked for.
    var status: (port: UInt16, mark: UInt32) {
        state.withLock { (engine.exchange.sockets.port ?? $0.port, $0.mark ?? 0) }
    }

    /// Changes what is asked for, on open sockets at once.
    ///
    /// - Parameters:
    ///   - port: The new port, 0 for any other; nil if it stays.
    ///   - mark: The new mark, 0 for none; nil if it stays.
    /// - Returns: Whether that could be had; if not, everything is as it was.
    func change(port: UInt16?, mark: UInt32?) -> Bool {
        state.withLock { state in
            let current = engine.exchange.sockets.port
            let newMark = mark.map { $0 == 0 && state.mark == nil ? nil : $0 } ?? state.mark
            guard state.isUp, let current else {
                (state.port, state.mark) = (port ?? state.port, newMark)
                return true
            }
            let newPort = port ?? current
            if newPort == current { return newMark == state.mark || changeMark(newMark, on: current, &state) }
            guard let sockets = open(port: newPort, mark: newMark) else { return false }
            use(sockets, &state)
            state.mark = newMark
            return true
        }
    }

    /// Opens the sockets when the interface came up, closes them when it went down, and tries again what failed.
    func follow(isUp: Bool) {
        let hasChanged = state.withLock { state in
            defer { state.isUp = isUp }
            guard isUp else {
                if state.isUp { engine.replaceSockets(.none) }
                return state.isUp
            }
            if engine.exchange.sockets.port != nil { return !state.isUp }
            guard let sockets = open(port: state.port, mark: state.mark, isQuiet: state.hasComplained) else {
                state.hasComplained = true
                return false
            }
            state.hasComplained = false
            use(sockets, &state)
            return true
        }
        // Sockets come first: the peers are greeted through them.
        if hasChanged { engine.put(.link(isUp: isUp)) }
    }

    private func use(_ sockets: Sockets, _ state: inout State) {
        engine.replaceSockets(sockets)
        state.port = sockets.port ?? state.port
    }

    /// Exchanges sockets for others on the same port, which is free only once the old ones are closed.
    private func changeMark(_ mark: UInt32?, on port: UInt16, _ state: inout State) -> Bool {
        engine.replaceSockets(.none)
        if let sockets = open(port: port, mark: mark) {
            engine.replaceSockets(sockets)
            state.mark = mark
            return true
        }
        engine.replaceSockets(open(port: port, mark: state.mark) ?? .none)
        return false
    }

    /// Asks the host for sockets and waits for them.
    private func open(port: UInt16, mark: UInt32?, isQuiet: Bool = false) -> Sockets? {
        guard let answer = try? Rendezvous<Result<UDPSockets, any Error>>() else { return nil }
        context.openUDPSockets(UDPSocketRequest(port: port, mark: mark)) { answer.fulfil($0) }
        do {
            return try Self.adopt(answer.wait().get(), engine.options)
        } catch {
            if !isQuiet { context.log(.error, "No UDP socket on port \(port): \(error)") }
            return nil
        }
    }

    /// Makes sockets of the descriptors that the host gave.
    static func adopt(_ opened: UDPSockets, _ options: PathOptions) throws(PathError) -> Sockets {
        var socketOptions = UDPSocket.Options()
        socketOptions.receiveOffload = options.udpGRO
        var sockets: [UDPSocket?] = []
        for descriptor in [opened.ipv4, opened.ipv6] {
            guard let descriptor else {
                sockets.append(nil)
                continue
            }
            sockets.append(try UDPSocket(adopting: descriptor, options: socketOptions))
        }
        return Sockets(ipv4: sockets[0], ipv6: sockets[1])
    }
}
