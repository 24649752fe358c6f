internal import HostRuntime
internal import ProviderKit

/// `run`: one tunnel in the foreground until it is stopped.
enum RunVerb {
    static let command = Command(
        name: "run", summary: "Run one tunnel in the foreground until it is stopped.",
        options: [
            .init(name: "bundle-id", value: "ID", summary: "The bundle that serves the tunnel.", isRequired: true),
            .init(name: "config", value: "FILE", summary: "The provider's configuration, such as a wg-quick file."),
            .init(name: "interface", value: "NAME", summary: "The name of the interface; the first free phtunN else."),
            .init(name: "dns", value: "BACKEND", summary: "auto (the default), resolved, resolvconf, file or none."),
            .init(
                name: "include-all-networks",
                summary: "Let nothing leave beside the tunnel, before it is up, and if it fails."
            ),
            .init(name: "enforce-routes", summary: "Let nothing that a route leads into the tunnel leave beside it."),
            .init(
                name: "exclude-local-networks",
                summary: "With one of the two: keep the private networks reachable that this machine is connected to."),
            .init(name: "isolation", value: "KIND", summary: "none (the default), or namespace: a network of its own."),
            .init(
                name: "masquerade",
                summary: "Let clients behind the tunnel out to other networks with this machine's address."),
            .init(name: "log-level", value: "LEVEL", summary: "error, warning, info (the default) or debug."),
            .json,
            .init(
                name: "allow-hooks", summary: "Let the configuration run commands (PreUp, PostUp, PreDown, PostDown)."),
        ],
        discussion: """
            Prints a line per change of state. Ctrl-C, SIGTERM and SIGHUP stop the tunnel through the
            provider; when the program ends, nothing of the tunnel is left.

            A configuration that ends in .plist (XML) or .json and holds a dictionary becomes the
            provider's configuration itself; any other file is handed over as text.

            --dns says what DNS settings are given to. auto is systemd-resolved where the machine asks
            it, else resolvconf where that made /etc/resolv.conf, else the file itself, which comes back
            at the end. Only systemd-resolved can send some names to the tunnel and others elsewhere.

            --include-all-networks is a kill switch, made with nftables. It holds from before the first
            handshake until the tunnel is stopped, also while the tunnel reconnects and when this program is
            killed; the next run takes it over, and `providerhost sweep` ends it. Only the tunnel's own
            packets, DHCP and neighbour discovery pass. What no route leads into the tunnel is refused. Names
            cannot be looked up before the tunnel is up, so the configuration gives endpoints as addresses.

            --isolation namespace puts the interface, its routes and its DNS into a network namespace that has
            the interface's name. Programs use the tunnel when they are run inside, and have no other way out:
            `ip netns exec phtun0 PROGRAM`. The machine's own routes and DNS stay as they are.

            --masquerade is for a gateway: it turns forwarding on, for packets of the tunnel only where it was
            off, and translates addresses with nftables. All of it is taken back at the end.
            """
    ) { arguments, console in
        let request = try RunRequest(GatewayRunVerb.completed(arguments))
        let presenter = SessionPresenter(console: console, asJSON: request.wantsJSON)
        let bundle = try BundleIndex().bundle(request.bundleIdentifier)
        let file = try request.configurationPath.map(ConfigurationFile.init(path:))
        if let warning = file?.warning { presenter.log(.warning, warning) }
        var configuration = HostConfiguration(
            bundlePath: bundle.path, executablePath: bundle.executablePath,
            principalClass: bundle.manifest.principalClass,
            protocolConfiguration: request.protocolConfiguration(from: file))
        configuration.interfaceName = request.interfaceName
        configuration.dnsBackend = request.dnsBackend
        configuration.logLevel = request.logLevel
        configuration.controlSocketDirectory = bundle.manifest.controlSocketDirectory
        let host = try TunnelHost(configuration) { report in
            switch report {
            case .status(let status, let interface, let error):
                presenter.show(status, interface: interface, error: error)
            case .log(let level, let text): presenter.log(level, text)
            }
        }
        return ExitCode(rawValue: host.run().exitStatus) ?? .unknown
    }
}
