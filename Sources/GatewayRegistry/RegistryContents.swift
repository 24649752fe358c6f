public import ProviderKit
public import WireGuard

/// Everything that decides what a gateway does, as one value: the registry without its file.
///
/// Every change goes through a method that checks it, so what stands here is always valid:
///
///     INVARIANT: pools and site subnets are disjoint; names and keys are unique; each lease is of a pool and a peer.
public struct RegistryContents: Sendable, Equatable {
    /// The most peers.
    public static let maximumPeers = 65_536
    /// The most pools.
    public static let maximumPools = 64
    /// The most site subnets of a peer.
    public static let maximumSiteSubnets = 256
    /// The most routes of a kind in a scope; a snapshot has room for as many in all.
    public static let maximumRoutes = 1_024

    /// The gateway itself.
    public internal(set) var gateway: Gateway
    /// The pools in the order in which they were added: earlier ones are used first.
    public internal(set) var pools: [AddressPool] = []
    /// The peers by name.
    public internal(set) var peers: [String: GatewayPeer] = [:]
    /// The names of the peers by their public keys.
    var names: [PublicKey: String] = [:]
    /// The addresses of the peers.
    public internal(set) var leases = LeaseTable()
    /// What is pushed, by scope.
    public internal(set) var profiles: [PushScope: PushProfile] = [:]
    /// The version of what is pushed to each peer, by name.
    public internal(set) var versions: [String: PushVersion] = [:]

    /// Makes the contents of a new registry.
    ///
    /// - Throws: ``RegistryError`` when a value of the gateway or a pool is wrong.
    public init(gateway: Gateway, pools: [IPPrefix]) throws(RegistryError) {
        self.gateway = gateway
        guard gateway.listenPort != 0 else {
            throw RegistryError(
                .invalidValue, cause: "A gateway cannot listen on port 0.", remedy: "Give a port, such as 51820.")
        }
        try Self.checkMTU(gateway.mtu)
        for pool in pools { try addPool(pool) }
    }

    /// Takes what was valid when it was stored.
    init(stored gateway: Gateway) { self.gateway = gateway }

    /// The peers in the order of their names.
    public var sortedPeers: [GatewayPeer] { peers.values.sorted { $0.name < $1.name } }

    /// The peer of a name.
    ///
    /// - Throws: ``RegistryErrorCode/unknownPeer``.
    public func peer(_ name: String) throws(RegistryError) -> GatewayPeer {
        guard let peer = peers[name] else {
            throw RegistryError(.unknownPeer, cause: "There is no peer `\(name.excerpt)`.")
        }
        return peer
    }

    /// The peer that has a public key, nil if there is none.
    public func peer(with publicKey: PublicKey) -> GatewayPeer? { names[publicKey].flatMap { peers[$0] } }

    /// The names of the peers that a scope is about.
    func names(in scope: PushScope) -> [String] {
        switch scope {
        case .gateway: Array(peers.keys)
        case .group(let group): peers.values.filter { $0.group == group }.map(\.name)
        case .peer(let name): peers[name] == nil ? [] : [name]
        }
    }

    static func checkMTU(_ mtu: Int) throws(RegistryError) {
        guard (1280...9000).contains(mtu) else {
            throw RegistryError(
                .invalidValue, cause: "An MTU of \(mtu) bytes is not usable.",
                remedy: "Give 1280, the least that IPv6 works with, to 9000.")
        }
    }
}

/// The version of what is pushed to a peer.
public struct PushVersion: Sendable, Equatable {
    /// Counts up with every change.
    public internal(set) var serial: UInt64
    /// The digest of the snapshot that has the serial.
    public internal(set) var digest: UInt128
}
