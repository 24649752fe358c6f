internal import CTun
internal import Netlink
internal import NetworkSettings
internal import PacketPath
internal import ProviderKit

/// A TUN interface of this process with the settings on it; it goes with its last descriptor.
final class LinuxInterface: SessionInterface {
    /// Packets that wait in the interface while the provider is busy: the default of 500 drops bursts.
    private static let queueLength = 1000

    let name: String
    private var device: TUNDevice?
    private let dnsBackend: DNSBackend
    private let keeper: SettingsKeeper
    /// Watches the keeper, the resolver and the alarm, none of which needs a name: all are looked at.
    private let changes: EventPoller
    private var watchedResolver: Int32?
    private var retry: RetryClock
    private let effects: SystemEffects
    private let link: Link
    private let trafficGuard: TrafficGuard?
    /// Made with the first request, because sockets may bring a mark of their own.
    private var settings: InterfaceSettings?
    private(set) var mtu: Int?

    /// What an earlier process left on this name or on no interface at all, as it was found.
    let remarks: [String]

    /// Creates the interface, arms the kill switch, and removes what a process that was killed has left behind.
    ///
    /// - Throws: ``InterfaceError``, or a ``TunnelError`` with the kernel's words; nothing is left then.
    init(name: String, dnsBackend: DNSBackend, killSwitch: KillSwitch?) throws {
        self.dnsBackend = dnsBackend
        trafficGuard = try killSwitch.map { TrafficGuard($0, filter: try NftablesProgram()) }
        changes = try EventPoller()
        retry = try RetryClock()
        keeper = try SettingsKeeper(interface: name, isGuarded: killSwitch != nil)
        effects = try SystemEffects()
        device = try Self.makeDevice(name: name)
        self.name = name
        link = try effects.link(named: name)
        if let error = effects.submit([.setLink(link.index, .transmitQueueLength(Self.queueLength))])[0] {
            throw InterfaceError(.notCreated, cause: "The interface \(name) could not be prepared: \(error).")
        }
        for descriptor in keeper.descriptors { try changes.watch(descriptor, token: 0) }
        try changes.watch(retry.descriptor, token: 0)
        // What an earlier kill switch holds back stays back until ours is in its place.
        try trafficGuard?.arm(interface: name)
        do {
            remarks = try Self.sweep(name, effects) + Self.sweepFilter(name, effects, isGuarded: trafficGuard != nil)
        } catch {
            try? trafficGuard?.disarm(interface: name)
            throw error
        }
    }

    var virtualHeaderLength: Int { Int(CTUN_VNET_HEADER) }

    var changeDescriptor: Int32 { changes.fileDescriptor }

    func isLost() -> Bool {
        // Whatever happened is only a reason to look: events can be lost, and an index can be given out again.
        keeper.takeEvents()
        do throws(NetlinkError) {
            return try effects.link(index: link.index).name != name
        } catch {
            // A question that failed for another reason says nothing about the interface.
            return error.kind == .noSuchInterface
        }
    }

    func duplicateDevice() throws -> Descriptor {
        guard let device else { throw InterfaceError(.gone) }
        return Descriptor(adopting: try ChannelSystem.duplicate(device.descriptor))
    }

    func apply(_ settings: PacketTunnelNetworkSettings?) throws -> [String] {
        defer { watchResolver() }
        let result = try interfaceSettings(mark: nil).apply(settings)
        mtu = result.mtu
        return result.notApplied.map { "\($0.part): \($0.reason)" }
    }

    func restore() -> [String] {
        let remarks = keeper.restore { () throws -> [String] in
            if let settings { return try settings.restore() }
            return try trafficGuard?.restore(interface: name) == true ? ["the kill switch"] : []
        }
        return remarks + (settings.map(restoreResolver) ?? [])
    }

    private func restoreResolver(_ settings: InterfaceSettings) -> [String] {
        guard retry.isDue() else { return [] }
        defer { watchResolver() }
        do throws(SettingsApplyError) {
            let isRestored = try settings.restoreResolver()
            retry.succeeded()
            return isRestored ? ["DNS is set again: the resolver was restarted."] : []
        } catch {
            retry.failed()
            return [error.cause]
        }
    }

    func openSockets(_ request: UDPSocketRequest) throws -> OpenedSockets {
        let settings = try interfaceSettings(mark: request.mark == 0 ? nil : request.mark)
        let mark = request.mark ?? settings.mark
        guard trafficGuard == nil || mark == settings.mark else {
            throw InterfaceError(
                .socketFailed, cause: "The kill switch cannot tell sockets marked \(mark) from others.",
                remedy: "Leave out FwMark, or --include-all-networks and --enforce-routes.")
        }
        try settings.admitSockets()
        var opened = try OpenedSockets(port: request.port, mark: mark)
        if mark != settings.mark {
            opened.remarks = ["Sockets marked \(mark) are not kept out of the tunnel by its rules."]
        }
        return opened
    }

    func tearDown() -> [String] {
        var remains = settings?.teardown() ?? []
        if settings == nil {
            do throws(FilterError) { try trafficGuard?.disarm(interface: name) } catch { remains.append(error.cause) }
        }
        settings = nil
        // The worker is gone, so this was the last descriptor, and the kernel deletes the interface with it.
        device = nil
        if let left = try? effects.link(index: link.index), left.name == name,
            let error = effects.submit([.deleteLink(link.index)])[0]
        {
            remains.append("the interface \(name): \(error)")
        }
        return remains
    }

    /// The connection to the resolver may be a new one after every use.
    private func watchResolver() {
        if let watchedResolver { changes.forget(watchedResolver) }
        watchedResolver = settings?.resolverDescriptor
        if let watchedResolver { try? changes.watch(watchedResolver, token: 0) }
    }

    /// Takes back what a process that was killed left on this interface, or on none that is there, but for its kill switch.
    private static func sweep(_ name: String, _ effects: SystemEffects) throws -> [String] {
        let sweep = try SettingsSweep.interface(name, effects)
        var remarks = sweep.failures
        if !sweep.removed.isEmpty {
            remarks.append("Removed what an earlier process left: \(sweep.removed.count) rules and routes.")
        }
        do throws(ResolverError) {
            let swept = try SystemResolver.sweep { interface in
                interface == name || effects.lacks(interface)
            }
            if !swept.isEmpty {
                remarks.append("Took back DNS that an earlier process left: \(swept.joined(separator: ", ")).")
            }
        } catch {
            remarks.append("\(error)")
        }
        return remarks
    }

    /// Ends what the kill switch of an earlier process on this name still holds back, unless ours is in its place, and tells
    /// of those whose own tunnel has not come back: they guard it until somebody decides.
    private static func sweepFilter(_ name: String, _ effects: SystemEffects, isGuarded: Bool) -> [String] {
        do throws(FilterError) {
            let filter = try NftablesProgram()
            let tables = try filter.tables().filter { $0.purpose == .guardian }
            let stale = isGuarded ? [] : tables.filter { $0.interface == name }
            try filter.replace(stale, with: [])
            let orphans = Set(tables.map(\.interface).filter { $0 != name && effects.lacks($0) })
            return (stale.isEmpty ? [] : ["Ended the kill switch that an earlier process left on \(name)."])
                + orphans.sorted().map {
                    "The kill switch of \($0), whose process is gone, is in force; `providerhost sweep` ends it."
                }
        } catch {
            return error.code == .programMissing ? [] : [error.cause]
        }
    }

    private func interfaceSettings(mark: UInt32?) throws -> InterfaceSettings {
        if let settings { return settings }
        let made = try makeSettings(mark: mark)
        if let error = effects.submit([.setLink(link.index, .alias(made.slot.alias))])[0] {
            throw InterfaceError(.notCreated, cause: "The interface \(name) could not be marked as ours: \(error).")
        }
        settings = made
        return made
    }

    /// Takes the slot that the index of the interface gives, for two processes that start at once see the same slots free.
    private func makeSettings(mark: UInt32?) throws(SettingsApplyError) -> InterfaceSettings {
        let preferred = Int(link.index) % PolicySlot.numbers.count
        let others = Set(PolicySlot.numbers.filter { $0 != preferred }.compactMap { PolicySlot(number: $0) })
        do {
            return try InterfaceSettings(
                interface: name, effects: effects, mark: mark, taken: others, trafficGuard: trafficGuard,
                resolver: dnsBackend.make)
        } catch {
            return try InterfaceSettings(
                interface: name, effects: effects, mark: mark, trafficGuard: trafficGuard, resolver: dnsBackend.make)
        }
    }

    /// Offloads are the worker's choice: the batch face takes packet by packet.
    static var deviceOptions: PathOptions {
        var options = PathOptions()
        options.tunTSO = false
        options.tunUSO = false
        return options
    }

    /// Creates a TUN device whose name nothing else has.
    static func makeDevice(name: String) throws(InterfaceError) -> TUNDevice {
        do {
            return try TUNDevice(name: name, existing: .refuse, options: deviceOptions)
        } catch {
            throw refusal(name, error)
        }
    }

    private static func refusal(_ name: String, _ error: PathError) -> InterfaceError {
        switch error.errno {
        case 16: InterfaceError(.exists, cause: "The interface \(name) exists already.")
        case 1: InterfaceError(.capabilityMissing)
        case 2, 6, 13, 19: InterfaceError(.deviceMissing)
        default: InterfaceError(.notCreated, cause: "The interface \(name) could not be created: \(error.message).")
        }
    }
}

extension String {
    /// The text with its first letter in upper case, as a sentence begins.
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
