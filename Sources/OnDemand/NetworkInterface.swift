/// An interface of the machine, as far as on-demand rules can tell one network from another.
public struct NetworkInterface: Sendable, Equatable {
    /// What an interface is.
    public enum Kind: String, Sendable, CaseIterable {
        /// A cable, and whatever behaves like one: bridges, bonds, VLANs, the interface of a virtual machine.
        case ethernet
        case wiFi
        case cellular
        /// A tunnel of somebody else.
        case virtual
        case loopback
    }

    /// A way to everywhere else.
    public struct DefaultRoute: Sendable, Hashable {
        /// The router; nil where the interface itself leads there.
        public var gateway: String?
        /// The route with the least metric is taken.
        public var metric: UInt32

        /// Makes a route.
        public init(gateway: String?, metric: UInt32) {
            self.gateway = gateway
            self.metric = metric
        }
    }

    public var name: String
    public var kind: Kind
    /// Whether a tunnel of ours made it: nothing about such an interface is a change of the network.
    public var isOwn = false
    /// Whether it is up and has a carrier.
    public var isRunning = false
    /// The networks that it is in, such as `192.0.2.0/24`, without link-local ones.
    public var networks: Set<String> = []
    public var defaultRoutes: Set<DefaultRoute> = []
    /// The name of the Wi-Fi network that it is connected to.
    public var ssid: String?

    /// Makes an interface that is down.
    public init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }

    /// The metric of the best default route; nil without one.
    var metric: UInt32? { defaultRoutes.map(\.metric).min() }
}
