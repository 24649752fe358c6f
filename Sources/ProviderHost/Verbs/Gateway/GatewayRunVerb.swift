internal import GatewayRegistry

/// `gateway run`: serves the peers of the registry in the foreground.
enum GatewayRunVerb {
    /// The bundle of the provider that reads the registry.
    static let bundleIdentifier = "org.providerhost.gateway"

    static let command = Command(
        name: "gateway run", summary: "Serve the peers in the foreground until it is stopped.",
        options: RunVerb.command.options.filter { ["interface", "masquerade", "log-level", "json"].contains($0.name) },
        discussion: """
            The same as `run --bundle-id \(bundleIdentifier)`. The other verbs change what it does while it runs: peers, pools
            and what is pushed are followed within seconds. The interface has the first address of each pool.

            --masquerade is on without being given where `gateway init` had it.
            """
    ) { arguments, console in
        // Says what is missing before anything is made.
        _ = try GatewayVerbs.registry()
        var arguments = arguments
        arguments.values["bundle-id"] = bundleIdentifier
        return try RunVerb.command.run(arguments, console)
    }

    /// The arguments of `run` with what the registry says about a gateway.
    static func completed(_ arguments: Arguments) -> Arguments {
        // Where there is no registry, the provider says so.
        guard arguments.values["bundle-id"] == bundleIdentifier,
            let contents = try? GatewayVerbs.registry().contents(), contents.gateway.masquerades
        else { return arguments }
        var arguments = arguments
        arguments.switches.insert("masquerade")
        return arguments
    }
}
