import Netlink
import ProviderKit

/// What may not leave the machine beside a tunnel, enforced by the packet filter.
///
/// The tables stay in force whatever becomes of the process that made them: a crash fails closed.
public struct KillSwitch: Hashable, Sendable {
    /// What is kept in.
    public enum Scope: Hashable, Sendable {
        /// Every packet: what no route leads into the tunnel is refused.
        case everything
        /// Packets to the tunnel's routes, whichever interface a program binds its socket to.
        case routes
    }

    public var scope: Scope
    /// Whether the private networks that the machine is connected to stay reachable.
    public var excludesLocalNetworks: Bool

    /// A kill switch.
    public init(_ scope: Scope, excludesLocalNetworks: Bool) {
        self.scope = scope
        self.excludesLocalNetworks = excludesLocalNetworks
    }

    /// What the rules depend on.
    struct Circumstances: Equatable {
        var interface: String
        /// The mark of the sockets that carry the tunnel; nil while there are none, and nothing leaves at all.
        var mark: UInt32?
        /// The settings in force or about to be; nil while there are none.
        var desired: DesiredState?
        /// The private networks that the machine is connected to.
        var localNetworks: [IPPrefix] = []
    }

    /// The names of every table that ``tables(_:)`` may make.
    static func names(_ interface: String) -> [FilterTableName] {
        FilterTableName.Purpose.guardian.families.map { FilterTableName(.guardian, $0, interface: interface) }
    }

    /// The tables under these circumstances; none where there is nothing to guard yet.
    func tables(_ now: Circumstances) -> [FilterTable] {
        let enforced = scope == .routes ? enforcedSets(now) : []
        guard scope == .everything || !enforced.isEmpty else { return [] }
        let filter = FilterTable(
            FilterTableName(.guardian, interface: now.interface), sets: enforced,
            chains: [
                FilterTable.Chain(.output, isDropping: scope == .everything, rules: outputRules(now, enforced)),
                FilterTable.Chain(.forward, isDropping: scope == .everything, rules: forwardRules(now, enforced)),
                FilterTable.Chain(
                    .prerouting, priority: Self.rawPriority, rules: Self.probeRules(now.interface, now.desired)),
            ])
        let probed = (now.desired?.addresses ?? []).map(\.address).filter { $0.family == .ipv4 }
        guard !probed.isEmpty else { return [filter] }
        let silence = FilterRule(.notEnteringBy([now.interface]), .askedAddress(probed), verdict: .drop)
        return [
            filter,
            FilterTable(
                FilterTableName(.guardian, .arp, interface: now.interface),
                chains: [FilterTable.Chain(.input, rules: [silence])]),
        ]
    }

    /// Ahead of connection tracking.
    private static let rawPriority = -300
    private static let loopback = "lo"
    private static let domainPorts = [53, 853]

    private func outputRules(_ now: Circumstances, _ enforced: [FilterTable.AddressSet]) -> [FilterRule] {
        var rules = [FilterRule(.leavingBy([Self.loopback, now.interface]), verdict: .accept)]
        if let mark = now.mark { rules.append(FilterRule(.mark(mark), .transport(["udp"]), verdict: .accept)) }
        if scope == .everything { rules += Self.linkRules }
        rules += localRules(now)
        return rules + refusal(enforced)
    }

    private func forwardRules(_ now: Circumstances, _ enforced: [FilterTable.AddressSet]) -> [FilterRule] {
        var rules = [FilterRule(.leavingBy([now.interface]), verdict: .accept)]
        if scope == .everything { rules.append(FilterRule(.enteringBy([now.interface]), verdict: .accept)) }
        rules += localRules(now)
        return rules + refusal(enforced)
    }

    /// What a link needs so that the tunnel's own packets can use it: addresses by DHCP, and neighbour discovery.
    private static let linkRules: [FilterRule] = {
        let udp = FilterRule.Match.transport(["udp"])
        var rules = [FilterRule(udp, .sourcePort(68), .destinationPorts([67]), verdict: .accept)]
        for servers in ["fe80::/10", "ff02::1:2/128", "ff05::1:3/128"].compactMap({ IPPrefix($0) }) {
            rules.append(
                FilterRule(.destination(servers), udp, .sourcePort(546), .destinationPorts([547]), verdict: .accept))
        }
        // RFC 4861 section 6.1: a hop limit of 255 proves that the message stays on the link.
        rules.append(FilterRule(.neighbourMessage([133, 134, 135, 136, 137]), .hopLimit(255), verdict: .accept))
        // RFC 3810: without these reports a switch may keep neighbour discovery from us.
        rules.append(FilterRule(.neighbourMessage([131, 132, 143]), .hopLimit(1), verdict: .accept))
        return rules
    }()

    /// Local networks stay reachable.
    private func localRules(_ now: Circumstances) -> [FilterRule] {
        guard excludesLocalNetworks else { return [] }
        let local = now.localNetworks + LocalNetworks.always
        return (scope == .everything ? Self.nameServerRules(now, local) : [])
            + local.map { FilterRule(.destination($0), verdict: .accept) }
    }

    /// Name servers of a local network learn nothing unless the settings name them.
    private static func nameServerRules(_ now: Circumstances, _ local: [IPPrefix]) -> [FilterRule] {
        let servers = (now.desired?.resolver?.servers ?? []).filter { server in local.contains { $0.contains(server) } }
        let transports = FilterRule.Match.transport(["tcp", "udp"])
        let ports = FilterRule.Match.destinationPorts(domainPorts)
        let accepted = AddressFamily.allCases.compactMap { family -> FilterRule? in
            let ofFamily = servers.filter { $0.family == family }
            return ofFamily.isEmpty ? nil : FilterRule(.destinationIn(ofFamily), transports, ports, verdict: .accept)
        }
        return accepted + [FilterRule(transports, ports, verdict: .reject)]
    }

    /// A program that may not send is told so at once.
    private func refusal(_ enforced: [FilterTable.AddressSet]) -> [FilterRule] {
        scope == .everything
            ? [FilterRule(verdict: .reject)]
            : enforced.map { FilterRule(.destinationInSet($0.name, $0.family), verdict: .reject) }
    }

    /// Nobody outside may find out the tunnel's addresses by asking whether they answer (CVE-2019-14899).
    static func probeRules(_ interface: String, _ desired: DesiredState?) -> [FilterRule] {
        let addresses = (desired?.addresses ?? []).map(\.address)
        return AddressFamily.allCases.compactMap { family in
            let ofFamily = addresses.filter { $0.family == family }
            guard !ofFamily.isEmpty else { return nil }
            return FilterRule(.notEnteringBy([interface]), .destinationIn(ofFamily), .sourceIsRemote, verdict: .drop)
        }
    }

    private func enforcedSets(_ now: Circumstances) -> [FilterTable.AddressSet] {
        guard let desired = now.desired, desired.routing != .off else { return [] }
        return AddressFamily.allCases.compactMap { family in
            let ranges = PrefixCover.ranges(
                included: desired.included + desired.ownNetworks, excluded: desired.excluded, family)
            return ranges.isEmpty
                ? nil : FilterTable.AddressSet(family == .ipv4 ? "inside4" : "inside6", family, ranges)
        }
    }
}
