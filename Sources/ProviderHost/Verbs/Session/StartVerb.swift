internal import Control
internal import HostRuntime
internal import ProviderKit

/// `start`: asks the manager to start a profile's tunnel.
enum StartVerb {
    static let command = Command(
        name: "start", summary: "Start a profile's tunnel.", positionals: [.init(name: "NAME")],
        options: [
            .init(name: "wait", summary: "Wait until the tunnel is up, and fail when it does not come up."),
            .init(name: "timeout", value: "SECONDS", summary: "The longest wait; 90 else."),
            .json,
        ],
        discussion: """
            Without --wait, success means that the start was accepted. The tunnel stays when this program ends.
            """
    ) { arguments, console in
        let manager = try ProfileAccess().manager(named: arguments.positionals[0])
        let seconds = try TimeoutOption.seconds(arguments, standard: 90)
        return try start(
            manager, seconds: arguments.switches.contains("wait") ? seconds : nil, console, asJSON: arguments.wantsJSON)
    }

    /// Starts a tunnel, and waits for it where there is a limit to the wait.
    static func start(
        _ manager: TunnelProviderManager, seconds: Double?, _ console: Console, asJSON: Bool
    ) throws -> ExitCode {
        let changes = manager.connection.statusChanges
        do {
            try manager.connection.startVPNTunnel()
        } catch {
            console.report(TunnelFailure(error), asJSON: asJSON)
            return .startFailed
        }
        guard let seconds else { return .success }
        return try wait(for: manager, changes, seconds: seconds, console, asJSON: asJSON)
    }

    /// Waits until a session that was just started is up, or has failed to be.
    static func wait(
        for manager: TunnelProviderManager, _ changes: AsyncStream<VPNStatus>, seconds: Double, _ console: Console,
        asJSON: Bool
    ) throws -> ExitCode {
        let reached = try Waiting.run(seconds: seconds) { () -> VPNStatus in
            // Until it is connecting, a change belongs to the session before.
            var hasBegun = false
            for await status in changes {
                if status == .connecting { hasBegun = true }
                if hasBegun, [.connected, .disconnected, .invalid].contains(status) { return status }
            }
            return .invalid
        }
        guard let reached else {
            throw ProfileError(.timeout, cause: "The tunnel is \(manager.connection.status) after \(seconds) s.")
        }
        let failure = StatusVerb.lastError(of: manager)
        StatusVerb.show(manager, error: reached == .connected ? nil : failure, console, asJSON: asJSON)
        return reached == .connected ? .success : .startFailed
    }
}

/// The option `--timeout`.
enum TimeoutOption {
    /// The seconds that were given.
    static func seconds(_ arguments: Arguments, standard: Double) throws(UsageError) -> Double {
        guard let text = arguments.values["timeout"] else { return standard }
        guard let seconds = Double(text), seconds > 0, seconds <= 86_400 else {
            throw UsageError(
                .invalidValue, cause: "`\(text.printable)` is no time in seconds.",
                remedy: "Give a number above 0 and up to 86400 in --timeout.")
        }
        return seconds
    }
}
