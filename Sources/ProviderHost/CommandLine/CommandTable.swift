/// Every verb there is.
enum CommandTable {
    /// The verbs in the order of the help.
    static let all: [Command] = [
        RunVerb.command, WireGuardVerb.command, ShowVerb.command, MetricsVerb.command, BundlesVerb.command,
        NewProviderVerb.command, VersionVerb.command,
        HelpVerb.command,
        WorkerVerb.command,
    ]
}
