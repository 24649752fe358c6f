internal import Control
internal import HostRuntime
internal import ProviderKit

/// `status`: what the tunnels are doing, once or as it changes.
enum StatusVerb {
    static let command = Command(
        name: "status", summary: "Show what the tunnels are doing.",
        positionals: [.init(name: "NAME", isRequired: false)],
        options: [
            .init(name: "watch", summary: "Go on with every change, until Ctrl-C."),
            .init(name: "why", summary: "Tell also which on-demand rule decided, when, and in what network."), .json,
        ],
        discussion: """
            On a terminal, --watch redraws in place; else it prints a line, or with --json an object, for every change.
            """
    ) { arguments, console in
        let access = try ProfileAccess()
        let managers = try arguments.positionals.first.map { [try access.manager(named: $0)] } ?? access.all()
        let tellsWhy = arguments.switches.contains("why")
        guard arguments.switches.contains("watch") else {
            for manager in managers {
                let onDemand =
                    tellsWhy ? try Waiting.run { try await manager.connection.onDemandState() } : nil
                show(
                    manager, error: lastError(of: manager), onDemand: onDemand, console, asJSON: arguments.wantsJSON)
            }
            if managers.isEmpty, !arguments.wantsJSON { console.print("There is no profile.") }
            return .success
        }
        guard !tellsWhy else {
            throw UsageError(
                .surplusArgument, cause: "--watch shows the status alone, without --why.",
                remedy: "Give one of them.")
        }
        try StatusWatch(managers: managers, console: console, asJSON: arguments.wantsJSON).run()
        return .success
    }

    /// Prints the state of one profile.
    static func show(
        _ manager: TunnelProviderManager, error: TunnelFailure?, onDemand: OnDemandState? = nil, _ console: Console,
        asJSON: Bool
    ) {
        let report = StatusReport(manager, error: error, onDemand: onDemand)
        if asJSON { return console.print(json: report) }
        console.print(report.line)
        if let onDemand { console.print("  on demand: \(onDemand.line)") }
    }

    /// The error of the last disconnect, where there was one.
    static func lastError(of manager: TunnelProviderManager) -> TunnelFailure? {
        do {
            try Waiting.run { try await manager.connection.fetchLastDisconnectError() }
            return nil
        } catch {
            return TunnelFailure(error)
        }
    }
}
