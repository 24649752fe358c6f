public import WireGuard

/// The gateway's own values; there is one gateway in a registry.
public struct Gateway: Sendable, Equatable {
    /// The static private key.
    public let privateKey: PrivateKey
    /// The UDP port that it listens on.
    public var listenPort: UInt16
    /// Where clients reach it; written into every exported configuration.
    public var endpoint: Configuration.PeerEndpoint
    /// The MTU inside the tunnel in bytes, pushed where no profile says otherwise.
    public var mtu: Int = 1420
    /// Whether what leaves the gateway for other networks carries the gateway's own address.
    public var masquerades: Bool = false
    /// How long a lease lasts without contact, in seconds; 0 for ever.
    public var leaseSeconds: UInt32 = 3600
    /// Drawn once for a registry: serials count within it.
    public let epoch: UInt128

    /// Makes a gateway with an MTU of 1420 bytes and leases of an hour.
    ///
    /// - Parameters:
    ///   - privateKey: The static private key.
    ///   - listenPort: The UDP port that it listens on.
    ///   - endpoint: Where clients reach it.
    ///   - epoch: A random number.
    public init(privateKey: PrivateKey, listenPort: UInt16, endpoint: Configuration.PeerEndpoint, epoch: UInt128) {
        self.privateKey = privateKey
        self.listenPort = listenPort
        self.endpoint = endpoint
        self.epoch = epoch
    }

    /// The public half of the key, which clients know the gateway by.
    public var publicKey: PublicKey { privateKey.publicKey }
}
