public import ProviderKit

/// A kill switch with the packet filter that it is set in.
public struct TrafficGuard: Sendable {
    public let killSwitch: KillSwitch
    let filter: any PacketFilter

    /// The kill switch in any packet filter.
    public init(_ killSwitch: KillSwitch, filter: any PacketFilter) {
        self.killSwitch = killSwitch
        self.filter = filter
    }

    /// Lets nothing out that the kill switch is about, until there are settings and sockets.
    ///
    /// What an earlier process left in force for the interface is replaced without a gap.
    public func arm(interface: String) throws(FilterError) {
        try filter.replace(KillSwitch.names(interface), with: armed(interface))
    }

    /// Arms the kill switch again if another program has ended it, and returns whether it had.
    public func restore(interface: String) throws(FilterError) -> Bool {
        let tables = armed(interface)
        guard !tables.allSatisfy(filter.holds) else { return false }
        try arm(interface: interface)
        return true
    }

    /// Lets everything out again.
    public func disarm(interface: String) throws(FilterError) {
        try filter.replace(KillSwitch.names(interface), with: [])
    }

    /// What is in force once the kill switch is armed.
    func armed(_ interface: String) -> [FilterTable] {
        killSwitch.tables(KillSwitch.Circumstances(interface: interface))
    }
}
