/// A tunnel as a wg-quick file describes it (wg(8) "CONFIGURATION FILE FORMAT", wg-quick(8)), every value checked.
///
/// Only the parser makes one, so what it holds needs no second check. The base64 of a secret key is in no description.
public struct Configuration: Sendable, Equatable, CustomStringConvertible {
    /// The `[Interface]` section.
    public internal(set) var interface: Interface
    /// The `[Peer]` sections in file order; sections with the same public key are one peer.
    public internal(set) var peers: [Peer]

    /// How many data threads each direction may have.
    public static let threadCounts = 1...16

    public var description: String {
        "\(interface.addresses.count) addresses, \(peers.count) peers"
    }

    /// The `[Interface]` section: what belongs to this end of the tunnel.
    public struct Interface: Sendable, Equatable, CustomStringConvertible {
        /// The static private key.
        public internal(set) var privateKey: PrivateKey
        /// The UDP port to bind, 0 for any.
        public internal(set) var listenPort: UInt16 = 0
        /// The mark of the outer packets, 0 for none.
        public internal(set) var firewallMark: UInt32 = 0
        /// The addresses inside the tunnel.
        public internal(set) var addresses: [InterfaceAddress] = []
        /// The addresses of `DNS`.
        public internal(set) var dnsServers: [IPAddress] = []
        /// The names of `DNS`: search domains.
        public internal(set) var searchDomains: [String] = []
        /// The domains of a `# match_domains = …` comment that alone ask the servers of `DNS`; empty if all names do.
        public internal(set) var matchDomains: [String] = []
        /// The MTU inside the tunnel in bytes, 576 to 65535; nil if the path decides.
        public internal(set) var mtu: Int?
        /// The routing table that takes the routes.
        public internal(set) var table: RoutingTable = .automatic
        /// `PreUp` to `PostDown` in file order.
        public internal(set) var hooks: [Hook] = []
        /// Whether the file is rewritten from the running state when the tunnel goes down.
        public internal(set) var savesConfiguration: Bool = false
        /// What a `# switch_off = …` comment in the section forbids the packet path.
        public internal(set) var switchedOff: Set<PathFeature> = []
        /// The data threads in each direction that a `# threads = …` comment asks for; nil if the machine decides.
        public internal(set) var threads: Int?

        public var description: String { "addresses \(addresses), port \(listenPort)" }
    }

    /// A `[Peer]` section: one far end.
    public struct Peer: Sendable, Equatable, CustomStringConvertible {
        /// The static public key.
        public internal(set) var publicKey: PublicKey
        /// The symmetric key that is mixed into the handshake; nil if none or all zero.
        public internal(set) var presharedKey: PresharedKey?
        /// The networks behind the peer, host bits cleared, in file order.
        public internal(set) var allowedIPs: [IPPrefix] = []
        /// Where the first handshake goes; nil if the peer comes to us.
        public internal(set) var endpoint: PeerEndpoint?
        /// Seconds between keepalives that are sent without traffic, 0 for none.
        public internal(set) var persistentKeepalive: UInt16 = 0
        /// The text of a `# friendly_name = …` comment in the section.
        public internal(set) var friendlyName: String?

        public var description: String { "\(friendlyName ?? "peer"), allowed IPs \(allowedIPs)" }
    }

    /// An address of the interface with the length of its network; host bits are kept.
    public struct InterfaceAddress: Sendable, Hashable, CustomStringConvertible {
        /// The address.
        public let address: IPAddress
        /// The number of leading bits that name the network, 0 to 32 or 128.
        public let prefixLength: Int

        public var description: String { "\(address)/\(prefixLength)" }
    }

    /// The table that takes the routes of the tunnel.
    public enum RoutingTable: Sendable, Hashable {
        /// No route is made.
        case off
        /// The host decides (`auto`).
        case automatic
        /// A table of rtnetlink by its number, 1 to 4294967295.
        case number(UInt32)
    }

    /// Where a peer is reached.
    public enum PeerEndpoint: Sendable, Hashable, CustomStringConvertible {
        /// A numeric address and port.
        case address(Endpoint)
        /// A host name, or a link-local IPv6 address with an interface name (`fe80::1%eth0`): the provider resolves both.
        case name(String, port: UInt16)

        public var description: String {
            switch self {
            case .address(let endpoint): endpoint.description
            case .name(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
            }
        }
    }

    /// A command of `PreUp`, `PostUp`, `PreDown` or `PostDown`.
    public struct Hook: Sendable, Hashable {
        /// When a hook runs.
        public enum Moment: String, Sendable, Hashable {
            case preUp = "PreUp"
            case postUp = "PostUp"
            case preDown = "PreDown"
            case postDown = "PostDown"
        }

        /// When it runs.
        public let moment: Moment
        /// The shell command as it stands in the file, `#` and `%i` included.
        public let command: String
        /// The line of the file, from 1.
        public let line: Int
    }
}
