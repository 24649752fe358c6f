/// The network that a machine is in at one moment: all that on-demand rules look at.
///
/// Two snapshots are equal when no rule and no attempt to connect could come out differently.
public struct NetworkSnapshot: Sendable, Equatable {
    /// The interface that leads out of the machine; nil where none does.
    public let primary: NetworkInterface?
    /// The addresses of the DNS servers in use, those of our tunnels left out.
    public let dnsServers: [String]
    /// The search domains in use, those of our tunnels left out.
    public let searchDomains: [String]

    /// Finds the primary interface among all: that of the best default route, else the first in any network.
    ///
    /// Interfaces of our own tunnels and those without a carrier do not count.
    public init(interfaces: [NetworkInterface], dnsServers: [String], searchDomains: [String]) {
        let candidates = interfaces.filter { $0.isRunning && !$0.isOwn && $0.kind != .loopback }
        let routed = candidates.filter { $0.metric != nil }
            .min { ($0.metric ?? .max, $0.name) < ($1.metric ?? .max, $1.name) }
        // A tunnel of somebody else leads out of the machine only where a default route says so.
        let connected = candidates.filter { !$0.networks.isEmpty && $0.kind != .virtual }.min { $0.name < $1.name }
        primary = routed ?? connected
        self.dnsServers = dnsServers
        self.searchDomains = searchDomains
    }
}
