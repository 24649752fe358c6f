internal import GatewayRegistry

/// `gateway export`: the configuration that a client starts with.
enum GatewayExportVerb {
    static let command = Command(
        name: "gateway export", summary: "Print a client's configuration: keys and endpoint, nothing of the network.",
        positionals: [.init(name: "NAME")],
        options: [
            .init(name: "qr", summary: "Print it as a QR code for a terminal (needs qrencode)."),
            .init(name: "forget", summary: "Remove the client's private key from the registry afterwards."),
        ],
        discussion: """
            The file holds the client's private key. Addresses, routes, DNS and MTU come from the gateway, so the file stays
            right when they change. AllowedIPs in it are the ceiling of what may be pushed: narrow them at the client.
            """
    ) { arguments, console in
        let registry = try GatewayVerbs.registry()
        let contents = try registry.contents()
        let peer = try contents.peer(arguments.positionals[0])
        let key = try registry.clientKey(of: peer.name)
        let text = ClientConfiguration(gateway: contents.gateway, peer: peer, privateKey: key).wgQuickText
        console.output(arguments.switches.contains("qr") ? try QRCode.terminalText(of: text) : text)
        if arguments.switches.contains("forget") { try registry.forgetClientKey(of: peer.name) }
        return .success
    }
}
