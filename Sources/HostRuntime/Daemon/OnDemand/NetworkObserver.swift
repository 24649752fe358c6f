internal import Netlink
internal import NetworkSettings
internal import OnDemand

/// Looks at the network that the machine is in.
struct NetworkObserver {
    /// What the resolver said when it last answered.
    private var resolver = ResolverView.empty

    /// The network as it is now; may take some seconds where systemd-resolved is slow.
    ///
    /// - Throws: `NetlinkError` when the kernel cannot be asked.
    mutating func look() throws(NetlinkError) -> NetworkSnapshot {
        let socket = try NetlinkSocket()
        let links = try socket.links()
        let addresses = try socket.addresses()
        let routes = try socket.routes(table: Route.mainTable).filter {
            $0.destination.isDefault && $0.kind == .unicast
        }
        // A machine whose Wi-Fi does not answer has no names of networks.
        let wireless = (try? WirelessInterface.all()) ?? []
        let interfaces = links.map { link in
            NetworkInterface(
                link, addresses: addresses.filter { $0.interface == link.index },
                routes: routes.filter { $0.interface == link.index }, wireless.first { $0.index == link.index })
        }
        let primary = NetworkSnapshot(interfaces: interfaces, dnsServers: [], searchDomains: []).primary
        let own = Set(links.filter(\.isOwn).map(\.name))
        do throws(ResolverError) {
            resolver = try ResolverView.current(link: links.first { $0.name == primary?.name }) { name in
                own.contains(name) || InterfaceName.isAutomatic(name)
            }
        } catch {
            // It is being restarted, and what it said before is the best guess.
        }
        return NetworkSnapshot(
            interfaces: interfaces, dnsServers: resolver.servers, searchDomains: resolver.searchDomains)
    }
}

extension Link {
    /// Whether a tunnel of ours made it: by the name that it was given, or by the mark that it bears with any other name.
    var isOwn: Bool { InterfaceName.isAutomatic(name) || PolicySlot.isAlias(alias) }
}

extension NetworkInterface {
    init(_ link: Link, addresses: [InterfaceAddress], routes: [Route], _ wireless: WirelessInterface?) {
        self.init(name: link.name, kind: Kind(link, isWireless: wireless != nil))
        isOwn = link.isOwn
        isRunning = link.isRunning
        ssid = wireless?.ssid
        let all = addresses.compactMap { IPPrefix($0.address, length: $0.prefixLength) }
        networks = Set(all.filter { network in !Self.linkLocal.contains { $0.contains(network) } }.map(\.description))
        defaultRoutes = Set(routes.map { DefaultRoute(gateway: $0.gateway?.description, metric: $0.metric) })
    }

    /// fe80::/10 and 169.254.0.0/16 say nothing about where an interface leads.
    private static let linkLocal = ["fe80::/10", "169.254.0.0/16"].compactMap { IPPrefix($0) }
}

extension NetworkInterface.Kind {
    /// Kinds of the kernel whose other end is wherever their packets are sent to.
    private static let tunnels: Set = [
        "tun", "wireguard", "ipip", "sit", "gre", "gretap", "ip6tnl", "ip6gre", "vti", "vti6", "xfrm", "ppp", "vxlan",
    ]

    init(_ link: Link, isWireless: Bool) {
        let kind = link.kind ?? ""
        if link.isLoopback {
            self = .loopback
        } else if isWireless {
            self = .wiFi
        } else if kind == "wwan" || link.name.hasPrefix("wwan") {
            self = .cellular
        } else {
            self = link.isPointToPoint || Self.tunnels.contains(kind) ? .virtual : .ethernet
        }
    }
}
