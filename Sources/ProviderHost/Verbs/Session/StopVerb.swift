internal import Control
internal import HostRuntime
internal import ProviderKit

/// `stop`: asks the manager to stop a profile's tunnel through its provider.
enum StopVerb {
    static let command = Command(
        name: "stop", summary: "Stop a profile's tunnel.", positionals: [.init(name: "NAME")],
        options: [
            .init(name: "wait", summary: "Wait until the tunnel is down."),
            .init(name: "timeout", value: "SECONDS", summary: "The longest wait; 40 else."),
            .json,
        ],
        discussion: "On-demand rules that match may start the tunnel again: disable them first."
    ) { arguments, console in
        let manager = try ProfileAccess().manager(named: arguments.positionals[0])
        let seconds = try TimeoutOption.seconds(arguments, standard: 40)
        let changes = manager.connection.statusChanges
        let wasDown = [.disconnected, .invalid].contains(manager.connection.status)
        manager.connection.stopVPNTunnel()
        guard arguments.switches.contains("wait"), !wasDown else { return .success }
        let isDown = try Waiting.run(seconds: seconds) { () -> Bool in
            for await status in changes where [.disconnected, .invalid].contains(status) { return true }
            return false
        }
        guard isDown == true else {
            throw ProfileError(.timeout, cause: "The tunnel is \(manager.connection.status) after \(seconds) s.")
        }
        let error = StatusVerb.lastError(of: manager)
        StatusVerb.show(manager, error: error, console, asJSON: arguments.wantsJSON)
        return error?.saysStopFailed == true ? .stopFailed : .success
    }
}
