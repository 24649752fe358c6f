import Netlink

/// The marks by which replies take the way of what they answer while a default route leads into a tunnel.
///
/// ```
/// our datagram, marked   out ──▶ its connection gets the mark
/// its reply              in  ──▶ gets the mark: to strict reverse-path filtering it comes from where it would be sent
/// a packet to us         in  ──▶ its connection gets the mark: its answers get it, and leave by the main table
/// ```
enum ReplyMarks {
    /// Behind connection tracking, ahead of everything that decides about packets (nft(8), `mangle`).
    private static let priority = -150
    private static let loopback = "lo"

    /// The table for a tunnel.
    ///
    /// - Parameters:
    ///   - interface: The tunnel's interface.
    ///   - mark: The mark of the sockets that carry the tunnel; it must have a rule that leads to the main table.
    ///   - desired: The settings with the default route.
    ///   - answersOutside: Whether connections from outside are answered there: false under a kill switch.
    /// - Returns: The table.
    static func table(_ interface: String, mark: UInt32, _ desired: DesiredState, answersOutside: Bool) -> FilterTable {
        let ours = FilterRule.Match.connectionMark(mark...mark)
        var incoming = [FilterRule(.enteringBy([loopback, interface]), verdict: .accept)]
        var outgoing = [FilterRule(.mark(mark), .transport(["udp"]), verdict: .markConnection(mark))]
        if answersOutside {
            // What would be answered from here must not betray the tunnel's addresses.
            incoming += KillSwitch.probeRules(interface, desired)
            // Those that were there before the tunnel too, and those that a former tunnel marked; but a mark of somebody else
            // stays.
            incoming += [0...0, PolicySlot.defaultMarks].map { marks in
                FilterRule(
                    .isAnswer(false), .connectionMark(marks), .destinationIsLocal, verdict: .markConnection(mark))
            }
            outgoing.append(FilterRule(.isAnswer(true), ours, verdict: .markPacket(mark)))
        }
        incoming.append(FilterRule(ours, verdict: .markPacket(mark)))
        return FilterTable(
            FilterTableName(.replies, interface: interface),
            chains: [
                FilterTable.Chain(.prerouting, priority: priority, rules: incoming),
                FilterTable.Chain(.output, kind: .route, priority: priority, rules: outgoing),
            ])
    }
}
