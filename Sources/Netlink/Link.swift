import CMnl
import Glibc

/// A network interface as the kernel reports it (RTM_NEWLINK).
public struct Link: Hashable, Sendable {
    /// How the kernel makes IPv6 link-local addresses for an interface (IFLA_INET6_ADDR_GEN_MODE).
    public enum AddressGeneration: UInt8, Sendable {
        case eui64 = 0
        case none = 1
        case stablePrivacy = 2
        case random = 3
    }

    /// Counters since the interface was made; packets and bytes as the interface carries them (IFLA_STATS64).
    public struct Statistics: Hashable, Sendable {
        public var receivedPackets: UInt64 = 0
        public var sentPackets: UInt64 = 0
        public var receivedBytes: UInt64 = 0
        public var sentBytes: UInt64 = 0
        public var receiveErrors: UInt64 = 0
        public var sendErrors: UInt64 = 0
        public var receiveDrops: UInt64 = 0
        public var sendDrops: UInt64 = 0

        /// Counters at zero.
        public init() {}
    }

    /// The interface index, unique in its namespace.
    public var index: UInt32
    /// The name, 1 to 15 bytes.
    public var name: String
    /// IFF_UP and the other flags of linux/if.h.
    public var flags: UInt32
    /// The largest packet in bytes.
    public var mtu: Int
    /// The length of the transmit queue in packets.
    public var transmitQueueLength: Int
    /// The free text of `ip link set alias`, if any.
    public var alias: String?
    /// The driver's kind, such as `tun` or `veth`; nil for hardware.
    public var kind: String?
    /// The IPv6 mode; nil where the interface has no IPv6.
    public var addressGeneration: AddressGeneration?
    /// The counters at the time of the report.
    public var statistics: Statistics

    /// A link with counters at zero, as a model of the kernel needs it.
    public init(
        index: UInt32, name: String, flags: UInt32, mtu: Int, transmitQueueLength: Int = 500, kind: String? = nil,
        addressGeneration: AddressGeneration? = nil
    ) {
        self.index = index
        self.name = name
        self.flags = flags
        self.mtu = mtu
        self.transmitQueueLength = transmitQueueLength
        self.kind = kind
        self.addressGeneration = addressGeneration
        statistics = Statistics()
    }

    /// Whether the interface is administratively up.
    public var isUp: Bool { flags & UInt32(IFF_UP) != 0 }

    /// Whether it is up and has a carrier, as far as its driver knows.
    public var isRunning: Bool { isUp && flags & UInt32(IFF_RUNNING) != 0 }

    /// Whether it leads back to the machine itself.
    public var isLoopback: Bool { flags & UInt32(IFF_LOOPBACK) != 0 }

    /// Whether there is exactly one other end, as tunnels have it.
    public var isPointToPoint: Bool { flags & UInt32(IFF_POINTOPOINT) != 0 }
}

extension Link {
    /// Length of struct ifinfomsg.
    static let headerLength = 16

    init?(_ message: Message) {
        guard let index = message.payload.integer(UInt32.self, at: 4),
            let flags = message.payload.integer(UInt32.self, at: 8)
        else { return nil }
        let attributes = message.attributes(after: Self.headerLength)
        guard let name = attributes.string(LinkAttribute.name) else { return nil }
        self.index = index
        self.flags = flags
        self.name = name
        mtu = Int(attributes.integer(LinkAttribute.mtu, as: UInt32.self) ?? 0)
        transmitQueueLength = Int(attributes.integer(LinkAttribute.transmitQueueLength, as: UInt32.self) ?? 0)
        alias = attributes.string(LinkAttribute.alias)
        kind = attributes.nested(LinkAttribute.info)?.string(LinkAttribute.infoKind)
        addressGeneration = attributes.nested(LinkAttribute.familySpecific)?
            .nested(UInt16(AddressFamily.ipv6.rawValue))?
            .integer(LinkAttribute.ipv6AddressGeneration, as: UInt8.self)
            .flatMap(AddressGeneration.init(rawValue:))
        statistics = Statistics(attributes[LinkAttribute.statistics64] ?? [])
    }

    /// Writes struct ifinfomsg: family, pad, type, index, flags, change mask.
    static func appendHeader(index: UInt32, flags: UInt32 = 0, change: UInt32 = 0, to builder: inout MessageBuilder) {
        builder.append(UInt16(0))
        builder.append(UInt16(0))
        builder.append(index)
        builder.append(flags)
        builder.append(change)
    }
}

extension Link.Statistics {
    /// Reads the head of struct rtnl_link_stats64; a field that is missing counts as zero.
    init(_ bytes: ArraySlice<UInt8>) {
        func counter(_ position: Int) -> UInt64 { bytes.integer(UInt64.self, at: 8 * position) ?? 0 }
        receivedPackets = counter(0)
        sentPackets = counter(1)
        receivedBytes = counter(2)
        sentBytes = counter(3)
        receiveErrors = counter(4)
        sendErrors = counter(5)
        receiveDrops = counter(6)
        sendDrops = counter(7)
    }
}
