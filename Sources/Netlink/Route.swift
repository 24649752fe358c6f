/// An entry of a routing table (RTM_NEWROUTE).
public struct Route: Hashable, Sendable {
    /// What the kernel does with a matching packet (rtm_type).
    public enum Kind: Hashable, Sendable {
        case unicast
        case local
        case broadcast
        case multicast
        /// Drops silently.
        case blackhole
        /// Drops and tells the sender.
        case unreachable
        case prohibit
        /// Ends the search of this table; the next rule decides.
        case `throw`
        case other(UInt8)
    }

    /// The numbers of the main and local tables.
    public static let mainTable: UInt32 = 254
    public static let localTable: UInt32 = 255

    /// The scope of what is reached without a gateway (RT_SCOPE_LINK).
    public static let linkScope: UInt8 = 253

    /// The metric that the kernel gives to an IPv6 route without one.
    public static let defaultIPv6Metric: UInt32 = 1024

    public var destination: IPPrefix
    public var kind: Kind
    /// The index of the outgoing interface: of the first next hop, if there are several.
    public var interface: UInt32?
    public var gateway: IPAddress?
    public var preferredSource: IPAddress?
    public var table: UInt32
    public var metric: UInt32
    /// Who made the route (rtm_protocol): 2 kernel, 3 boot, 4 static, others by program.
    public var protocolNumber: UInt8
    /// The distance to the destination (rtm_scope): 0 universe, 253 link, 254 host; always 0 in IPv6.
    public var scope: UInt8

    /// A route as the kernel will report it.
    ///
    /// IPv6 gets the metric 1024 where 0 is given, and IPv4 routes without a gateway get scope link, so that a
    /// value that was written equals the value that a dump returns.
    public init(
        _ destination: IPPrefix, kind: Kind = .unicast, interface: UInt32? = nil, gateway: IPAddress? = nil,
        preferredSource: IPAddress? = nil, table: UInt32 = Route.mainTable, metric: UInt32 = 0, protocolNumber: UInt8
    ) {
        self.destination = destination
        self.kind = kind
        self.interface = interface
        self.gateway = gateway
        self.preferredSource = preferredSource
        self.table = table
        self.metric = metric == 0 && destination.family == .ipv6 ? Self.defaultIPv6Metric : metric
        self.protocolNumber = protocolNumber
        scope = destination.family == .ipv4 && kind == .unicast && gateway == nil ? Self.linkScope : 0
    }
}

extension Route.Kind: RawRepresentable {
    private static let names: [UInt8: Route.Kind] = [
        1: .unicast, 2: .local, 3: .broadcast, 5: .multicast, 6: .blackhole, 7: .unreachable, 8: .prohibit, 9: .throw,
    ]

    /// The kind with a number of linux/rtnetlink.h (RTN_UNICAST is 1).
    public init(rawValue: UInt8) {
        self = Self.names[rawValue] ?? .other(rawValue)
    }

    /// The number in linux/rtnetlink.h.
    public var rawValue: UInt8 {
        switch self {
        case .unicast: 1
        case .local: 2
        case .broadcast: 3
        case .multicast: 5
        case .blackhole: 6
        case .unreachable: 7
        case .prohibit: 8
        case .throw: 9
        case .other(let number): number
        }
    }
}

extension Route: CustomStringConvertible {
    /// The route as `ip route` would show it, interfaces by index.
    public var description: String {
        var text = kind == .unicast ? "\(destination)" : "\(kind) \(destination)"
        if let gateway { text += " via \(gateway)" }
        if let interface { text += " dev \(interface)" }
        text += " table \(table)"
        if metric != 0 { text += " metric \(metric)" }
        return text
    }
}
