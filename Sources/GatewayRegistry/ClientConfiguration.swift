public import WireGuard

/// The file that a client starts with: keys and endpoint, and nothing of the network, which the gateway pushes.
public struct ClientConfiguration: Sendable {
    private let gateway: Gateway
    private let peer: GatewayPeer
    private let privateKey: PrivateKey

    /// Makes the file of a peer whose private key is at hand.
    public init(gateway: Gateway, peer: GatewayPeer, privateKey: PrivateKey) {
        self.gateway = gateway
        self.peer = peer
        self.privateKey = privateKey
    }

    /// The text of the file, as wg-quick(8) reads it; it holds secret keys.
    ///
    /// AllowedIPs are the ceiling of what may be pushed, not what is routed: the client's own policy narrows it. The keepalive
    /// lets the gateway reach a client behind a translation of addresses with changes.
    public var wgQuickText: String {
        var lines = [
            "# \(peer.name): addresses, routes, DNS and MTU come from the gateway.",
            "[Interface]",
            "# settings = pushRequired",
            "PrivateKey = \(privateKey.base64)",
            "",
            "[Peer]",
            "PublicKey = \(gateway.publicKey.base64)",
        ]
        if let presharedKey = peer.presharedKey { lines.append("PresharedKey = \(presharedKey.base64)") }
        lines += [
            "Endpoint = \(gateway.endpoint)",
            "AllowedIPs = 0.0.0.0/0, ::/0",
            "PersistentKeepalive = 25",
        ]
        return lines.joined(separator: "\n") + "\n"
    }
}
