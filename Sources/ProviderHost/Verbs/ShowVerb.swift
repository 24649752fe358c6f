internal import Foundation
internal import ProviderKit

/// `show`: the tunnels of this machine as they are now.
enum ShowVerb {
    static let command = Command(
        name: "show", summary: "Show the tunnels of this machine, or one of them.",
        positionals: [.init(name: "interface", isRequired: false)], options: [.json],
        discussion: """
            The form is that of `wg show`, with what was dropped and why, and without any secret.
            --json prints one object: `schema`, and for each interface the keys of wg-json.

            Colours as in wg: on a terminal, or as WG_COLOR_MODE (always, never, auto) says.
            """
    ) { arguments, console in
        let views = try Tunnels.views(named: arguments.positionals.first)
        if arguments.wantsJSON {
            console.print(json: ShowJSON(views))
            return .success
        }
        let isPainted = hasColour(ProcessInfo.processInfo.environment, isTerminal: isatty(STDOUT_FILENO) == 1)
        let now = Int64(Date().timeIntervalSince1970)
        console.output(views.map { ShowText($0, hasColour: isPainted, now: now).text }.joined(separator: "\n"))
        return .success
    }

    /// Whether to paint.
    static func hasColour(_ environment: [String: String], isTerminal: Bool) -> Bool {
        switch environment["WG_COLOR_MODE"] {
        case "always": true
        case "never": false
        default: isTerminal && (environment["NO_COLOR"] ?? "").isEmpty
        }
    }
}
