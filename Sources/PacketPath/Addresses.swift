/// An IPv4 or IPv6 address as a number in host order.
public enum IPAddress: Hashable, Sendable, BitwiseCopyable {
    case v4(UInt32)
    case v6(UInt128)

    /// 4 or 6.
    public var family: UInt8 {
        switch self {
        case .v4: 4
        case .v6: 6
        }
    }
}

/// The outer address of a peer: where datagrams go to and come from.
public struct PeerAddress: Hashable, Sendable, BitwiseCopyable {
    public var address: IPAddress
    public var port: UInt16
    /// The interface index of a link-local IPv6 address, else 0.
    public var scope: UInt32

    public init(address: IPAddress, port: UInt16, scope: UInt32 = 0) {
        self.address = address
        self.port = port
        self.scope = scope
    }
}

/// The local address and interface that a datagram arrived on, and that answers leave from (IP_PKTINFO, IPV6_PKTINFO).
public struct LocalAddress: Hashable, Sendable, BitwiseCopyable {
    public var address: IPAddress
    /// The interface index, 0 for any.
    public var interface: UInt32

    public init(address: IPAddress, interface: UInt32) {
        self.address = address
        self.interface = interface
    }
}
