/// Every verb there is.
enum CommandTable {
    /// The verbs in the order of the help.
    static let all: [Command] =
        [RunVerb.command] + GatewayVerbs.all + [
            SweepVerb.command, BundlesVerb.command, NewProviderVerb.command, VersionVerb.command, HelpVerb.command,
            WorkerVerb.command,
        ]

    /// What the verbs that begin with the same word are about, in one line.
    static let families = ["gateway": "Keep a gateway: peers, addresses and what is pushed; see `help gateway`."]
}
