public import WireGuard

/// What the filter must know of this machine and of the other peers; the driver keeps it up to date.
public struct PolicyContext: Sendable, Hashable {
    /// A network that an interface of this machine is connected to.
    public struct ConnectedNetwork: Sendable, Hashable {
        /// The interface's name.
        public var interface: String
        /// The network.
        public var prefix: IPPrefix

        /// Makes a connected network.
        public init(interface: String, prefix: IPPrefix) {
            self.interface = interface
            self.prefix = prefix
        }
    }

    /// What another peer of the same tunnel may send and receive.
    public struct OtherPeer: Sendable, Hashable {
        /// The name that a person knows it by.
        public var name: String
        /// Its AllowedIPs.
        public var ceiling: [IPPrefix]

        /// Makes another peer.
        public init(name: String, ceiling: [IPPrefix]) {
            self.name = name
            self.ceiling = ceiling
        }
    }

    /// The gateway's AllowedIPs: nothing outside is ever accepted.
    public var ceiling: [IPPrefix]
    /// The other peers.
    public var otherPeers: [OtherPeer] = []
    /// What the other interfaces are connected to.
    public var connectedNetworks: [ConnectedNetwork] = []
    /// Addresses of the other interfaces.
    public var addressesInUse: [IPAddress: String] = [:]
    /// The addresses that the protocol itself uses: ``ControlPacket/address(of:)`` of both ends.
    public var controlAddresses: [IPAddress] = []
    /// The largest MTU that the path to the gateway carries.
    public var largestMTU = 65_535

    /// Makes the context of a machine with no other network.
    public init(ceiling: [IPPrefix]) { self.ceiling = ceiling }
}
