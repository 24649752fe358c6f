internal import Control
internal import HostRuntime
internal import ProviderKit

/// `evaluate`: whether a connection to a host needs a profile's tunnel.
enum EvaluateVerb {
    static let command = Command(
        name: "evaluate", summary: "Start a profile's tunnel if its rules say that a host needs it.",
        positionals: [.init(name: "NAME"), .init(name: "HOST")],
        options: [
            .init(name: "wait", summary: "Wait until the tunnel is up, and fail when it does not come up."),
            .init(name: "timeout", value: "SECONDS", summary: "The longest wait; 90 else."),
            .json,
        ],
        discussion: """
            Linux tells nobody of a connection before it is made, so that rules which evaluate connections decide when this is \
            asked. For OpenSSH: Match host *.office.example exec "providerhost evaluate office %h --wait"
            """
    ) { arguments, console in
        let manager = try ProfileAccess().manager(named: arguments.positionals[0])
        let host = arguments.positionals[1]
        let seconds = try TimeoutOption.seconds(arguments, standard: 90)
        let changes = manager.connection.statusChanges
        let verdict = try Waiting.run { try await manager.connection.evaluateConnection(to: host) }
        if arguments.wantsJSON {
            console.print(json: Answer(isNeeded: verdict.isNeeded, reason: verdict.reason))
        } else {
            console.print("\(verdict.isNeeded ? "needed" : "not needed"): \(verdict.reason)".printable)
        }
        guard verdict.isNeeded, arguments.switches.contains("wait") else { return .success }
        return try StartVerb.wait(
            for: manager, changes, seconds: seconds, console, asJSON: arguments.wantsJSON)
    }

    /// The object of `--json`.
    private struct Answer: Encodable {
        let schema = Report.schema
        let isNeeded: Bool
        let reason: String

        private enum CodingKeys: String, CodingKey { case schema, isNeeded, reason }
    }
}
