internal import Foundation
internal import HostRuntime
internal import ProviderKit

/// `daemon`: the manager of all profiles, until it is stopped.
enum DaemonVerb {
    static let command = Command(
        name: "daemon", summary: "Run the manager of all profiles, in the foreground.",
        discussion: """
            Profiles are kept in $PROVIDERHOST_STATE_DIR (else $STATE_DIRECTORY, else /var/lib/providerhost); clients
            connect to the socket `manager` in $PROVIDERHOST_RUNTIME_DIR (else $RUNTIME_DIRECTORY, else
            /run/providerhost). Ctrl-C, SIGTERM and SIGHUP stop every tunnel through its provider.

            At its start it removes what tunnels that were killed have left behind, as `sweep` does.

            Root may do everything, the owner of a profile everything with it; members of the group
            \(ManagerGroup.name), where there is one, see, start and stop every profile.
            """
    ) { _, console in
        let daemon = try Daemon(
            version: CommandLineTool.version, environment: ProcessInfo.processInfo.environment
        ) { level, text in
            console.errors("\(CommandLineTool.name): \(level): \(text.printable)\n")
        }
        try daemon.run()
        return .success
    }
}
