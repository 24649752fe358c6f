internal import GatewayRegistry
internal import HostRuntime
internal import ProviderKit
internal import WireGuard

/// `gateway init`: makes the registry of a new gateway.
enum GatewayInitVerb {
    static let command = Command(
        name: "gateway init", summary: "Make a gateway: its key, and the file that keeps its peers.",
        options: [
            .init(name: "listen-port", value: "N", summary: "The UDP port that it listens on.", isRequired: true),
            .init(name: "endpoint", value: "HOST:PORT", summary: "Where clients reach it.", isRequired: true),
            .init(
                name: "pool", value: "PREFIX", summary: "A network whose addresses are leased to peers.",
                isRequired: true, isRepeated: true),
            .init(name: "mtu", value: "BYTES", summary: "The MTU inside the tunnel; 1420 else."),
            .init(
                name: "lease", value: "SECONDS",
                summary: "How long a lease lasts without contact; 3600 else, 0 for ever."),
            .init(
                name: "masquerade",
                summary: "Let the peers out to other networks with this machine's address, with every `gateway run`."),
        ],
        discussion: """
            The registry is the file \(Registry.fileName) in \(StateFolder.environmentKey), else in the state folder that
            systemd gives, else in /var/lib/providerhost. It holds the private key: its owner alone may read it.
            """
    ) { arguments, console in
        let contents = try contents(arguments)
        try Registry.create(in: GatewayVerbs.stateFolder, contents)
        let path = Registry.path(in: GatewayVerbs.stateFolder)
        console.print("gateway \(contents.gateway.publicKey) in \(path.printable)")
        return .success
    }

    private static func contents(_ arguments: Arguments) throws -> RegistryContents {
        let text = arguments.values["endpoint"] ?? ""
        guard let endpoint = Configuration.PeerEndpoint(text) else {
            throw UsageError(
                .invalidValue, cause: "`\(text.printable)` is no endpoint.",
                remedy: "Write HOST:PORT, such as gateway.example.com:51820 or [2001:db8::1]:51820.")
        }
        var generator = SystemRandomNumberGenerator()
        var gateway = Gateway(
            privateKey: PrivateKey(GatewayVerbs.randomKey()),
            listenPort: try arguments.number("listen-port", in: 1...UInt16.max) ?? 0, endpoint: endpoint,
            epoch: UInt128.random(in: 1...UInt128.max, using: &generator))
        gateway.masquerades = arguments.switches.contains("masquerade")
        if let mtu = try arguments.number("mtu", in: 1280...9000) { gateway.mtu = mtu }
        if let lease = try arguments.number("lease", in: 0...UInt32.max) {
            guard lease == 0 || lease >= 60 else {
                throw UsageError(
                    .invalidValue, cause: "A lease of \(lease) s is too short.",
                    remedy: "Give at least 60, or 0 for ever.")
            }
            gateway.leaseSeconds = lease
        }
        return try RegistryContents(gateway: gateway, pools: arguments.prefixes("pool"))
    }
}
