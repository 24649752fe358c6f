import Netlink
import ProviderKit

/// The routes and rules that a desired state means, in the order in which they are to be added.
struct PolicyLayout: Equatable {
    /// Behind every route that a program could add, and known from other VPN programs' backstops.
    static let backstopMetric: UInt32 = 4_278_198_272

    var routes: [Route] = []
    var rules: [Rule] = []
    /// Whether IPv4's default route goes into the tunnel, so that marked replies need src_valid_mark.
    var needsValidMark = false
    /// Why excluded routes have no effect, if so.
    var unexpressed: String?

    /// No routes and no rules.
    init() {}

    /// The layout for an interface; `side` is the table of the slot that the routes go to.
    init(_ desired: DesiredState, interface: UInt32, slot: PolicySlot, side: Int, mark: UInt32) {
        switch desired.routing {
        case .off: break
        case .automatic:
            for family in AddressFamily.allCases {
                addFamily(family, desired, interface: interface, slot: slot, side: side, mark: mark)
            }
        case .table(let table):
            // The kernel itself keeps the addresses' own networks in the main table.
            let own = table == Route.mainTable ? Set(desired.ownNetworks) : []
            let excluded = table == Route.mainTable ? [] : desired.excluded
            if excluded.count != desired.excluded.count {
                unexpressed = "excluded routes need a table of their own, not the main table"
            }
            add(desired.included.filter { !own.contains($0) }, excluded, interface: interface, table: table)
        }
    }

    private mutating func addFamily(
        _ family: AddressFamily, _ desired: DesiredState, interface: UInt32, slot: PolicySlot, side: Int, mark: UInt32
    ) {
        // An address's own network goes into the tunnel too, ahead of what the main table says about it.
        let included = Set((desired.included + desired.ownNetworks).filter { $0.family == family }).sorted()
        guard !included.isEmpty else { return }
        let table = slot.table(side: side)
        if Self.holdsDefault(included) {
            routes.append(
                Route(
                    .everything(family), kind: .unreachable, table: table, metric: Self.backstopMetric,
                    protocolNumber: ProtocolNumber.kernel))
            needsValidMark = needsValidMark || family == .ipv4
        }
        add(included, desired.excluded.filter { $0.family == family }, interface: interface, table: table)
        let shapes: [(Int, UInt32?, Rule.Action)] = [
            (0, mark, .lookup(Route.mainTable)), (2, mark, .unreachable), (6 + side, nil, .lookup(table)),
        ]
        rules += shapes.map { offset, mark, action in
            Rule(
                family: family, priority: slot.priority(offset), mark: mark, action: action,
                protocolNumber: ProtocolNumber.kernel)
        }
    }

    /// Exclusions come first, so that at no moment an included route is in force without them.
    private mutating func add(_ included: [IPPrefix], _ excluded: [IPPrefix], interface: UInt32, table: UInt32) {
        routes += excluded.map { prefix in
            var route = Route(prefix, kind: .throw, table: table, protocolNumber: ProtocolNumber.providerHost)
            // When the kernel resolves the gateway of a new route it skips entries of scope universe, and would find the
            // tunnel behind an excluded gateway.
            if prefix.family == .ipv4 { route.scope = Route.linkScope }
            return route
        }
        let thrown = Set(excluded)
        routes += included.filter { !thrown.contains($0) }.map {
            Route($0, interface: interface, table: table, protocolNumber: ProtocolNumber.providerHost)
        }
    }

    /// Whether prefixes of one family hold its default route, in one piece or in two halves.
    static func holdsDefault(_ prefixes: [IPPrefix]) -> Bool {
        prefixes.contains(where: \.isDefault) || prefixes.count { $0.length == 1 } == 2
    }
}

extension DesiredState {
    /// Whether rules of ours lead a default route into the tunnel.
    var leadsDefault: Bool {
        routing.isAutomatic
            && AddressFamily.allCases.contains { family in
                PolicyLayout.holdsDefault(included.filter { $0.family == family })
            }
    }

    /// The networks of the addresses that are wider than one address; link-local ones belong to every interface alike.
    var ownNetworks: [IPPrefix] {
        addresses.compactMap { address in
            guard address.length < address.address.family.bitWidth, !address.address.isLinkLocal else { return nil }
            return IPPrefix(address.address, length: address.length)
        }
    }
}

extension IPAddress {
    /// Whether the address is in fe80::/10 or 169.254.0.0/16.
    var isLinkLocal: Bool {
        family == .ipv4 ? bits >> 112 == 0xa9fe : bits >> 118 == 0x3fa
    }

    /// Whether the address is in 224.0.0.0/4 or ff00::/8.
    var isMulticast: Bool {
        family == .ipv4 ? bits >> 124 == 0xe : bits >> 120 == 0xff
    }
}
