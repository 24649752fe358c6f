internal import GatewayRegistry
internal import HostRuntime
internal import ProviderKit
internal import WireGuard

/// `gateway peer …`: who may use the gateway.
enum GatewayPeerVerbs {
    static let all = [add, remove, list, show, setting(.enabled), setting(.draining), setting(.disabled)]

    private static let add = Command(
        name: "gateway peer add", summary: "Add a peer and give it addresses of the pools.",
        positionals: [.init(name: "NAME")],
        options: [
            .init(name: "group", value: "NAME", summary: "The group whose routes, DNS and MTU it gets."),
            .init(name: "public-key", value: "KEY", summary: "The key that the client made; a new pair is made else."),
            .init(
                name: "subnet", value: "PREFIX", summary: "A network behind the peer, accepted from it.",
                isRepeated: true),
            .init(
                name: "address", value: "ADDRESS", summary: "The address of the pools that it gets; a free one else.",
                isRepeated: true),
        ],
        discussion: """
            Without --public-key a pair of keys and a preshared key are made; `gateway export NAME` then prints the
            client's configuration.
            """
    ) { arguments, console in
        let name = arguments.positionals[0]
        let made = arguments.values["public-key"] == nil ? PrivateKey(GatewayVerbs.randomKey()) : nil
        let peer = GatewayPeer(
            name: name, publicKey: try made?.publicKey ?? publicKey(arguments),
            presharedKey: made == nil ? nil : PresharedKey(GatewayVerbs.randomKey()),
            group: arguments.values["group"], siteSubnets: try arguments.prefixes("subnet"))
        let addresses = try (arguments.lists["address"] ?? []).map(Arguments.address)
        let registry = try GatewayVerbs.registry()
        let contents = try registry.change(keeping: made, of: name) { contents throws(RegistryError) in
            var generator = SystemRandomNumberGenerator()
            try contents.addPeer(peer, addresses: addresses, now: GatewayVerbs.now, random: &generator)
        }
        console.print(PeerReport(peer, contents).line)
        return .success
    }

    private static let remove = Command(
        name: "gateway peer remove", summary: "Remove a peer; its sessions end and its addresses are free.",
        positionals: [.init(name: "NAME")]
    ) { arguments, _ in
        let registry = try GatewayVerbs.registry()
        try registry.change { contents throws(RegistryError) in try contents.removePeer(arguments.positionals[0]) }
        return .success
    }

    private static let list = Command(
        name: "gateway peer list", summary: "List the peers with their addresses.", options: [.json]
    ) { arguments, console in
        let contents = try GatewayVerbs.registry().contents()
        let peers = contents.sortedPeers.map { PeerReport($0, contents) }
        if arguments.wantsJSON {
            console.print(json: PeerListing(peers: peers))
        } else {
            for peer in peers { console.print(peer.line) }
            if peers.isEmpty { console.print("There are no peers.") }
        }
        return .success
    }

    private static let show = Command(
        name: "gateway peer show", summary: "Show a peer, what is pushed to it, and what became of that.",
        positionals: [.init(name: "NAME")], options: [.json]
    ) { arguments, console in
        let registry = try GatewayVerbs.registry()
        let contents = try registry.contents()
        let peer = try contents.peer(arguments.positionals[0])
        let result = try registry.results()[peer.name]
        let details = try PeerDetails(peer, contents, result)
        if arguments.wantsJSON { console.print(json: details) } else { console.print(details.text) }
        return .success
    }

    /// `enable`, `drain` and `disable`.
    private static func setting(_ state: GatewayPeer.State) -> Command {
        let (verb, summary) =
            switch state {
            case .enabled: ("enable", "Serve a peer again.")
            case .draining: ("drain", "Ask a peer to use another gateway; it is served until it does.")
            case .disabled: ("disable", "Serve a peer no longer; its addresses stay its own.")
            }
        return Command(
            name: "gateway peer \(verb)", summary: summary, positionals: [.init(name: "NAME")]
        ) { arguments, _ in
            let registry = try GatewayVerbs.registry()
            try registry.change { contents throws(RegistryError) in
                try contents.setState(state, of: arguments.positionals[0])
            }
            return .success
        }
    }

    private static func publicKey(_ arguments: Arguments) throws(UsageError) -> PublicKey {
        guard let key = PublicKey(base64: arguments.values["public-key"] ?? "") else {
            throw UsageError(
                .invalidValue, cause: "The value of --public-key is no key.",
                remedy: "Give 44 characters of base64, as `wg pubkey` prints them.")
        }
        return key
    }
}
