internal import Netlink
internal import NetworkSettings
internal import ProviderKit

/// Notices when another program takes away what is ours, and puts it back: debounced, slower and slower against a program
/// that goes on, and told once.
final class SettingsKeeper {
    private let monitor: NetlinkMonitor
    /// Nil where there is no packet filter of ours.
    private let filterMonitor: FilterMonitor?
    private var clock: RestoreClock
    /// The names of our tables of the packet filter end like this.
    private let interface: String

    init(interface: String, watchesFilter: Bool) throws {
        self.interface = interface
        monitor = try NetlinkMonitor()
        if watchesFilter { filterMonitor = try FilterMonitor() } else { filterMonitor = nil }
        clock = try RestoreClock()
    }

    /// Readable when ``takeEvents()`` or ``restore(by:)`` may have something to do.
    var descriptors: [Int32] {
        [monitor.fileDescriptor, clock.descriptor] + (filterMonitor.map { [$0.fileDescriptor] } ?? [])
    }

    /// Takes what was reported.
    func takeEvents() {
        while let events = try? monitor.read(), !events.isEmpty {
            if events.contains(where: \.isReasonToLook) { clock.noticed() }
        }
        guard let losses = filterMonitor?.read() else { return }
        let purposes = FilterTableName.Purpose.allCases.filter {
            losses.isIncomplete || losses.tables.contains(FilterTableName($0, interface: interface).text)
        }
        if !purposes.isEmpty { clock.noticed(isUrgent: purposes.contains(.guardian)) }
    }

    /// Puts back what is missing if it is time to look.
    ///
    /// - Parameter putBack: Does it, and returns what was missing, as phrases.
    /// - Returns: Remarks for the log.
    func restore(by putBack: () throws -> [String]) -> [String] {
        guard clock.takeDue() else { return [] }
        do {
            let restored = try putBack()
            guard !restored.isEmpty, clock.acted() else { return [] }
            return ["Another program removed what was set again now: \(restored.joined(separator: ", "))."]
        } catch {
            let isFirst = clock.acted()
            clock.noticed()
            return isFirst ? [TunnelFailure(error).cause] : []
        }
    }
}

extension NetlinkMonitor.Event {
    /// Whether something of ours may have gone, or a connected network come or gone.
    fileprivate var isReasonToLook: Bool {
        switch self {
        case .addressRemoved, .routeRemoved, .ruleRemoved, .address, .resyncNeeded: true
        case .link, .linkRemoved, .route, .rule: false
        }
    }
}
