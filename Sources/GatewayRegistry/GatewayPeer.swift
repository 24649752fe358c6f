public import WireGuard

/// A client of the gateway.
public struct GatewayPeer: Sendable, Equatable {
    /// Whether the gateway serves a peer.
    public enum State: String, Sendable, Equatable, CaseIterable {
        /// It is served.
        case enabled
        /// It is served, and asked to use another gateway.
        case draining
        /// The gateway does not answer it; its addresses stay its own.
        case disabled
    }

    /// What the operator calls it.
    public let name: String
    /// The static public key.
    public let publicKey: PublicKey
    /// The symmetric key that both ends mix into the handshake; nil for none.
    public let presharedKey: PresharedKey?
    /// The group whose profile applies to it, nil for none.
    public var group: String?
    /// The networks behind it, accepted from it and from no other peer; ascending.
    public var siteSubnets: [IPPrefix]
    /// Whether it is served.
    public var state: State = .enabled

    /// Makes a peer that is served.
    public init(
        name: String, publicKey: PublicKey, presharedKey: PresharedKey?, group: String?, siteSubnets: [IPPrefix]
    ) {
        self.name = name
        self.publicKey = publicKey
        self.presharedKey = presharedKey
        self.group = group
        self.siteSubnets = siteSubnets.sorted { $0.precedes($1) }
    }
}
