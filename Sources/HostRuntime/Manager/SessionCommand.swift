internal import ProviderKit
private import Synchronization

/// What other threads ask of a session.
enum SessionCommand: Sendable {
    case stop(ProviderStopReason)
    case message([UInt8], reply: (@Sendable (Result<[UInt8]?, TunnelFailure>) -> Void)?)
    case sleep(allow: @Sendable () -> Void)
    case wake
}

/// Carries commands from any thread to the thread of a session.
final class SessionInbox: Sendable {
    private struct State {
        var commands: [SessionCommand] = []
        var isClosed = false
    }

    /// Rings when there are commands.
    let bell: Bell
    private let state = Mutex(State())

    init() throws(SystemCallError) { bell = try Bell() }

    /// Puts a command in.
    ///
    /// - Returns: False once the session is over: nobody reads the command.
    func put(_ command: SessionCommand) -> Bool {
        let isTaken = state.withLock { state in
            guard !state.isClosed else { return false }
            state.commands.append(command)
            return true
        }
        if isTaken { bell.ring() }
        return isTaken
    }

    /// Takes the commands out, in order.
    func take() -> [SessionCommand] {
        bell.silence()
        return state.withLock { state in
            defer { state.commands = [] }
            return state.commands
        }
    }

    /// Refuses commands from now on and returns those that were not taken.
    func close() -> [SessionCommand] {
        state.withLock { state in
            state.isClosed = true
            defer { state.commands = [] }
            return state.commands
        }
    }
}
