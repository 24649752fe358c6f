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
    private let monitor: NetlinkMonitor
    private let effects: SystemEffects
    private let link: Link
    /// Made with the first request, because sockets may bring a mark of their own.
    private var settings: InterfaceSettings?
    private(set) var mtu: Int?

    /// What an earlier process left on this name or on no interface at all, as it was found.
    let remarks: [String]

    /// Creates the interface, and removes rules and routes that a process that was killed has left behind.
    ///
    /// - Throws: ``InterfaceError``, or a ``TunnelError`` with the kernel's words; nothing is left then.
    init(name: String) throws {
        monitor = try NetlinkMonitor()
        effects = try SystemEffects()
        device = try Self.makeDevice(name: name)
        self.name = name
        link = try effects.link(named: name)
        if let error = effects.submit([.setLink(link.index, .transmitQueueLength(Self.queueLength))])[0] {
            throw InterfaceError(.notCreated, cause: "The interface \(name) could not be prepared: \(error).")
        }
        let sweep = try SettingsSweep.interface(name, effects)
        remarks =
            sweep.removed.isEmpty && sweep.failures.isEmpty
            ? [] : ["Removed what an earlier process left: \(sweep.removed.count) rules and routes."] + sweep.failures
    }

    var virtualHeaderLength: Int { Int(CTUN_VNET_HEADER) }

    var changeDescriptor: Int32 { monitor.fileDescriptor }

    func isLost() -> Bool {
        // Whatever happened is only a reason to look: events can be lost, and an index can be given out again.
        while let events = try? monitor.read(), !events.isEmpty {}
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
        let result = try interfaceSettings(mark: nil).apply(settings)
        mtu = result.mtu
        return result.notApplied.map { "\($0.part): \($0.reason)" }
    }

    func openSockets(_ request: UDPSocketRequest) throws -> OpenedSockets {
        let settings = try interfaceSettings(mark: request.mark == 0 ? nil : request.mark)
        let mark = request.mark ?? settings.mark
        var opened = try OpenedSockets(port: request.port, mark: mark)
        if mark != settings.mark {
            opened.remarks = ["Sockets marked \(mark) are not kept out of the tunnel by its rules."]
        }
        return opened
    }

    func tearDown() -> [String] {
        var remains = settings?.teardown() ?? []
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

    private func interfaceSettings(mark: UInt32?) throws -> InterfaceSettings {
        if let settings { return settings }
        let made = try makeSettings(mark: mark)
        settings = made
        return made
    }

    /// Takes the slot that the index of the interface gives, for two processes that start at once see the same slots free.
    private func makeSettings(mark: UInt32?) throws(SettingsApplyError) -> InterfaceSettings {
        let preferred = Int(link.index) % PolicySlot.numbers.count
        let others = Set(PolicySlot.numbers.filter { $0 != preferred }.compactMap { PolicySlot(number: $0) })
        do {
            return try InterfaceSettings(interface: name, effects: effects, mark: mark, taken: others)
        } catch {
            return try InterfaceSettings(interface: name, effects: effects, mark: mark)
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
