public import Netlink
public import ProviderKit

/// Forwarding with address translation for a gateway's clients: what they send to other networks leaves with this machine's
/// own address.
///
/// It is a table for each gateway, and the kernel's switches for forwarding. A switch that was off before is turned on
/// together with a table of its family that lets the gateways' packets through and no others; the table says that the switch
/// is to be turned off again, so whoever ends the last gateway needs no other state, and neither does a sweep.
public struct Masquerade: Sendable {
    /// Where source addresses are translated (nft(8), `srcnat`).
    private static let sourcePriority = 100
    /// The protocol number of routes from router advertisements (linux/rtnetlink.h).
    private static let advertised: UInt8 = 9

    private let interface: String
    private let filter: any PacketFilter
    private let effects: any SettingsEffects
    /// The families whose switch was off when this gateway began.
    private var turnedOn: Set<AddressFamily> = []
    private var families: Set<AddressFamily> = []

    /// Address translation for the clients behind an interface; nothing is changed yet.
    public init(interface: String, filter: any PacketFilter, effects: any SettingsEffects) {
        self.interface = interface
        self.filter = filter
        self.effects = effects
    }

    /// Lets the clients out, by these families; what an earlier process left for the interface is replaced.
    ///
    /// - Returns: What could not be done, as sentences.
    /// - Throws: ``FilterError``; nothing is changed then.
    public mutating func begin(_ families: Set<AddressFamily>) throws(FilterError) -> [String] {
        self.families = families
        var remarks: [String] = []
        for family in AddressFamily.allCases where families.contains(family) && isOff(family) {
            if family == .ipv6, let remark = advertisementObstacle() {
                remarks.append(remark)
            } else {
                turnedOn.insert(family)
            }
        }
        let wanted = turnedOn
        try Self.alone { () throws(FilterError) in
            let present = try Self.present(filter)
            let gateways = Set(present.filter { $0.purpose == .masquerade }.map(\.interface)).union([interface])
            let forwards = present.filter { $0.purpose == .forward }
            let guarded = wanted.union(forwards.compactMap(\.family.addressFamily))
            try filter.replace(forwards, with: [translation] + Self.forwardTables(guarded, gateways))
        }
        for family in turnedOn.sorted(by: { $0.rawValue < $1.rawValue }) where isOff(family) {
            do throws(NetlinkError) {
                try effects.setSysctl(family.forwarding, to: "1")
            } catch {
                remarks.append("Packets of the gateway's clients are not forwarded: \(error).")
            }
        }
        return remarks
    }

    /// Begins again if another program has removed the tables, and returns whether it had.
    public mutating func restore() throws(FilterError) -> Bool {
        guard !families.isEmpty, !filter.holds(translation) else { return false }
        _ = try begin(families)
        return true
    }

    /// Takes everything back, the switches too unless another gateway needs them.
    public func end() throws(FilterError) {
        _ = try Self.sweep(filter, effects) { $0 == interface }
    }

    /// Takes back what belongs to the interfaces that `isGone` names.
    ///
    /// - Returns: The tables that were removed.
    public static func sweep(
        _ filter: any PacketFilter, _ effects: any SettingsEffects, _ isGone: (String) -> Bool
    ) throws(FilterError) -> [FilterTableName] {
        try alone { () throws(FilterError) in
            let present = try present(filter)
            let gone = Set(present.map(\.interface).filter(isGone))
            guard !gone.isEmpty else { return [] }
            let staying = Set(present.filter { $0.purpose == .masquerade }.map(\.interface)).subtracting(gone)
            let forwards = present.filter { $0.purpose == .forward }
            let guarded = Set(forwards.compactMap(\.family.addressFamily))
            if staying.isEmpty {
                for family in guarded where effects.sysctl(family.forwarding) == "1" {
                    do throws(NetlinkError) {
                        try effects.setSysctl(family.forwarding, to: "0")
                    } catch {
                        throw FilterError(.refused, cause: "\(error).")
                    }
                }
            }
            let removed = present.filter { gone.contains($0.interface) || $0.purpose == .forward }
            try filter.replace(removed, with: staying.isEmpty ? [] : forwardTables(guarded, staying))
            return removed.filter { gone.contains($0.interface) }
        }
    }

    private var translation: FilterTable {
        FilterTable(
            FilterTableName(.masquerade, interface: interface),
            chains: [
                FilterTable.Chain(
                    .postrouting, kind: .nat, priority: Self.sourcePriority,
                    rules: [
                        // From client to client nothing is hidden.
                        FilterRule(.leavingBy([interface]), verdict: .accept),
                        FilterRule(.enteringBy([interface]), verdict: .masquerade),
                    ])
            ])
    }

    /// What was not forwarded before is not forwarded now, but for the gateways' clients.
    private static func forwardTables(_ families: Set<AddressFamily>, _ gateways: Set<String>) -> [FilterTable] {
        let names = gateways.sorted()
        guard let first = names.first else { return [] }
        return families.map { family in
            FilterTable(
                FilterTableName(.forward, family == .ipv4 ? .ipv4 : .ipv6, interface: first),
                chains: [
                    FilterTable.Chain(
                        .forward, isDropping: true,
                        rules: [
                            FilterRule(.enteringBy(names), verdict: .accept),
                            FilterRule(.leavingBy(names), verdict: .accept),
                        ])
                ])
        }
    }

    private static func present(_ filter: any PacketFilter) throws(FilterError) -> [FilterTableName] {
        try filter.tables().filter { $0.purpose == .masquerade || $0.purpose == .forward }
    }

    private func isOff(_ family: AddressFamily) -> Bool { effects.sysctl(family.forwarding) == "0" }

    /// Why IPv6 must not be forwarded: with the switch the kernel drops its own routes from advertisements, and with them
    /// the machine's connection.
    private func advertisementObstacle() -> String? {
        let routes = (try? effects.routes(table: Route.mainTable)) ?? []
        let learned = routes.filter { $0.protocolNumber == Self.advertised && $0.destination == .everything(.ipv6) }
        let names = learned.compactMap(\.interface).compactMap { try? effects.link(index: $0).name }
        guard let name = names.first(where: { effects.sysctl("net/ipv6/conf/\($0)/accept_ra") == "1" }) else {
            return nil
        }
        return "IPv6 is not forwarded: the default route of \(name) comes from router advertisements, which would end."
            + " Set net.ipv6.conf.\(name).accept_ra to 2 first."
    }

    /// One process at a time reads what there is and changes it.
    private static func alone<Result>(
        _ body: () throws(FilterError) -> Result
    ) throws(FilterError) -> Result {
        var outcome: Swift.Result<Result, FilterError>?
        do throws(FileFailure) {
            try Folder(path: "/run").locked { () throws(FileFailure) in
                outcome = Swift.Result { () throws(FilterError) in try body() }
            }
        } catch {
            throw FilterError(.refused, cause: "\(error).")
        }
        guard let outcome else { throw FilterError(.refused) }
        return try outcome.get()
    }
}

extension AddressFamily {
    /// The switch for forwarding on all interfaces.
    fileprivate var forwarding: String { self == .ipv4 ? "net/ipv4/ip_forward" : "net/ipv6/conf/all/forwarding" }
}

extension FilterTableName.Family {
    /// The one family that tables of this kind see.
    fileprivate var addressFamily: AddressFamily? {
        switch self {
        case .ipv4: .ipv4
        case .ipv6: .ipv6
        case .inet, .arp: nil
        }
    }
}
