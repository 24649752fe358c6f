/// What one `set` operation of WireGuard's control protocol asks for; what it does not name stays as it is.
public struct ControlSettings: Sendable, Equatable {
    /// A change of our static private key.
    public enum PrivateKeyChange: Sendable, Equatable {
        case keep
        case clear
        case set(PrivateKey)
    }

    /// One allowed IP that comes or goes.
    public struct AllowedIPChange: Sendable, Equatable {
        /// The network.
        public var prefix: IPPrefix
        /// Whether it is taken away (`allowed_ip=-…`).
        public var isRemoval: Bool

        /// Names the network and what becomes of it.
        public init(prefix: IPPrefix, isRemoval: Bool) {
            self.prefix = prefix
            self.isRemoval = isRemoval
        }
    }

    /// What is asked for one peer.
    public struct Peer: Sendable, Equatable {
        /// The peer's name.
        public var publicKey: PublicKey
        /// Whether it goes; nothing else counts then.
        public var isRemoved: Bool = false
        /// Whether the rest counts only for a peer that is there already.
        public var updatesOnly: Bool = false
        /// The new preshared key, all zero for none; nil if it stays.
        public var presharedKey: PresharedKey?
        /// Where the peer is from now on; a name is only a link-local address with the name of an interface.
        public var endpoint: Configuration.PeerEndpoint?
        /// Seconds between persistent keepalives, 0 for off; nil if they stay.
        public var keepaliveInterval: UInt16?
        /// Whether the allowed IPs that it has go first.
        public var replacesAllowedIPs: Bool = false
        /// The allowed IPs that come and go, in order.
        public var allowedIPs: [AllowedIPChange] = []

        /// Asks for nothing yet but that the peer is there.
        public init(_ publicKey: PublicKey) {
            self.publicKey = publicKey
        }
    }

    /// Our private key.
    public var privateKey: PrivateKeyChange = .keep
    /// The UDP port, 0 for any free one; nil if it stays.
    public var listenPort: UInt16?
    /// The mark of outer packets, 0 for none; nil if it stays.
    public var firewallMark: UInt32?
    /// Whether the peers that are there go first.
    public var replacesPeers: Bool = false
    /// The peers, in order.
    public var peers: [Peer] = []

    /// Asks for nothing.
    public init() {}

    /// Asks for all that a configuration file says, but for the port and the mark, which are the host's to open.
    public init(_ configuration: Configuration) {
        privateKey = .set(configuration.interface.privateKey)
        peers = configuration.peers.map { peer in
            var wanted = Peer(peer.publicKey)
            wanted.presharedKey = peer.presharedKey
            wanted.endpoint = peer.endpoint
            wanted.keepaliveInterval = peer.persistentKeepalive
            wanted.allowedIPs = peer.allowedIPs.map { AllowedIPChange(prefix: $0, isRemoval: false) }
            return wanted
        }
    }

    /// The same changes in parts of at most so many peers and allowed IPs, to be applied one after the other.
    ///
    /// Other threads get their turn between two parts, and nobody waits for a change of 100,000 allowed IPs.
    public func parts(of limit: Int) -> [ControlSettings] {
        var parts: [ControlSettings] = []
        var part = self
        part.peers = []
        var room = limit
        for peer in peers {
            var rest = peer.allowedIPs[...]
            var piece = peer
            repeat {
                if room <= 0 {
                    parts.append(part)
                    part = ControlSettings()
                    room = limit
                }
                piece.allowedIPs = Array(rest.prefix(room))
                rest = rest.dropFirst(room)
                room -= piece.allowedIPs.count + 1
                part.peers.append(piece)
                // What follows only adds to a peer that the first piece has made.
                piece = Peer(peer.publicKey)
                piece.updatesOnly = true
            } while !rest.isEmpty
        }
        parts.append(part)
        return parts
    }
}
