internal import CTun
internal import Netlink
internal import NetworkSettings
internal import PacketPath
internal import ProviderKit

/// A TUN interface of this process with the settings on it; it goes with its last descriptor.
final class LinuxInterface: SessionInterface {
    /// Packets that wait in the interface while the provider is busy: the default of 500 drops bursts.
    private static let queueLength = 1000
    private static let unmarked = SettingsShortfall(
        part: "includedRoutes",
        cause: """
            Without the program nft, answers to connections from outside enter the tunnel, and strict reverse-path filtering \
            drops what the tunnel receives.
            """,
        remedy: "Install nftables, or set net.ipv4.conf.all.rp_filter to 2.")

    let name: String
    private var device: TUNDevice?
    private let makeResolver: @Sendable () throws(ResolverError) -> any Resolver
    private let keeper: SettingsKeeper
    /// Watches the keeper, the resolver and the alarm, none of which needs a name: all are looked at.
    private let changes: EventPoller
    private var watchedResolver: Int32?
    private var retry: RetryClock
    private let effects: SystemEffects
    private let link: Link
    private let trafficGuard: TrafficGuard?
    /// Nil where there is none, or nothing else than the tunnel that it would be needed against.
    private let filter: NftablesProgram?
    private let isAlone: Bool
    private var masquerade: Masquerade?
    /// Made with the first request, because sockets may bring a mark of their own.
    private var settings: InterfaceSettings?
    private(set) var mtu: Int?

    /// What an earlier process left on this name or on no interface at all, as it was found.
    let remarks: [String]

    /// Creates the interface, arms the kill switch, and removes what a process that was killed has left behind.
    ///
    /// - Parameters:
    ///   - name: The name of the interface.
    ///   - killSwitch: What may not leave beside the tunnel; nil for no restriction.
    ///   - masquerades: Whether clients behind the tunnel are let out with this machine's address.
    ///   - isAlone: Whether there is nothing else in the network namespace, so that nothing beside the interface is touched.
    ///   - resolver: Makes what DNS settings are given to.
    /// - Throws: ``InterfaceError``, or a ``TunnelError`` with the kernel's words; nothing is left then.
    init(
        name: String, killSwitch: KillSwitch? = nil, masquerades: Bool = false, isAlone: Bool = false,
        resolver: @escaping @Sendable () throws(ResolverError) -> any Resolver
    ) throws {
        makeResolver = resolver
        self.isAlone = isAlone
        let found = isAlone ? nil : try Self.findFilter(isNeeded: killSwitch != nil || masquerades)
        let filter = found?.0
        self.filter = filter
        trafficGuard = killSwitch.flatMap { killSwitch in filter.map { TrafficGuard(killSwitch, filter: $0) } }
        changes = try EventPoller()
        retry = try RetryClock()
        keeper = try SettingsKeeper(interface: name, watchesFilter: filter != nil)
        let effects = try SystemEffects()
        self.effects = effects
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
            let isGuarded = trafficGuard != nil
            remarks =
                isAlone
                ? [] : try LeftoverSweep(startOf: name, effects, filter: found, isGuarded: isGuarded).remarks
        } catch {
            try? trafficGuard?.disarm(interface: name)
            throw error
        }
        if masquerades { masquerade = filter.map { Masquerade(interface: name, filter: $0, effects: effects) } }
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

    func hostNetworks() throws -> HostNetworks? { try effects.hostNetworks(beside: link.index) }

    func takeNetworkChange() -> Bool { keeper.takeNetworkChange(beside: link.index) }

    func duplicateDevice() throws -> Descriptor {
        guard let device else { throw InterfaceError(.gone) }
        return Descriptor(adopting: try ChannelSystem.duplicate(device.descriptor))
    }

    func apply(_ settings: PacketTunnelNetworkSettings?) throws -> [SettingsShortfall] {
        defer { watchResolver() }
        let remarks = try masquerade?.begin(settings?.addressFamilies ?? []) ?? []
        let result = try interfaceSettings(mark: nil).apply(settings)
        mtu = result.mtu
        return remarks.map { SettingsShortfall(part: "masquerade", cause: $0, remedy: "") } + result.shortfalls
            + (result.leadsDefault && filter == nil && !isAlone ? [Self.unmarked] : [])
    }

    func restore() -> [String] {
        let remarks = keeper.restore { () throws -> [String] in
            let translation = try masquerade?.restore() == true ? ["the address translation"] : []
            if let settings { return try settings.restore() + translation }
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
        do throws(FilterError) { try masquerade?.end() } catch { remains.append(error.cause) }
        return remains
    }

    /// The connection to the resolver may be a new one after every use.
    private func watchResolver() {
        if let watchedResolver { changes.forget(watchedResolver) }
        watchedResolver = settings?.resolverDescriptor
        if let watchedResolver { try? changes.watch(watchedResolver, token: 0) }
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
                filter: filter, resolver: makeResolver)
        } catch {
            return try InterfaceSettings(
                interface: name, effects: effects, mark: mark, trafficGuard: trafficGuard, filter: filter,
                resolver: makeResolver)
        }
    }
}

extension PacketTunnelNetworkSettings {
    /// The families in which the interface has addresses.
    fileprivate var addressFamilies: Set<AddressFamily> {
        var families: Set<AddressFamily> = []
        if ipv4Settings?.addresses.isEmpty == false { families.insert(.ipv4) }
        if ipv6Settings?.addresses.isEmpty == false { families.insert(.ipv6) }
        return families
    }
}

extension String {
    /// The text with its first letter in upper case, as a sentence begins.
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
