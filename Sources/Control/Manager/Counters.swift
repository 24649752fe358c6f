public import ProviderKit

/// Counters of a tunnel's interface, and those that its provider has of peers.
///
/// They count what the interface carried inside the tunnel: an estimate of the traffic of the outer network, which has the
/// tunnel's headers with each packet, and handshakes and keepalives besides.
public struct Counters: Codable, Sendable, Equatable {
    /// The name of the interface.
    public var interface: String
    /// Another one for every interface: with it, the counters began at zero again.
    public var epoch: String
    /// Always true, so that no reader takes them for a bill.
    public var estimate = true
    public var receivedBytes: UInt64
    public var sentBytes: UInt64
    public var receivedPackets: UInt64
    public var sentPackets: UInt64
    public var receiveErrors: UInt64
    public var sendErrors: UInt64
    public var receiveDrops: UInt64
    public var sendDrops: UInt64
    /// What the provider counts of its peers; empty where it counts nothing.
    public var peers: [PeerCounters] = []
    /// How many more peers there are than fit into the provider's reply.
    public var omittedPeers: UInt64 = 0

    /// Counters of a new interface.
    public init(interface: String, epoch: String) {
        self.interface = interface
        self.epoch = epoch
        receivedBytes = 0
        sentBytes = 0
        receivedPackets = 0
        sentPackets = 0
        receiveErrors = 0
        sendErrors = 0
        receiveDrops = 0
        sendDrops = 0
    }
}
