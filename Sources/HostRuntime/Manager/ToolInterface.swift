internal import CTun
internal import Netlink
internal import NetworkSettings
internal import PacketPath
internal import ProviderKit

/// A TUN interface that tools such as wg-quick(8) give its addresses, routes, MTU and state, also in another network
/// namespace; it goes with its last descriptor.
final class ToolInterface: SessionInterface {
    /// What every WireGuard interface begins with: an Ethernet cable's 1500 without the outer headers.
    private static let firstMTU = 1420
    /// Packets that wait in the interface while the provider is busy.
    private static let queueLength = 1000

    let name: String
    let remarks: [String] = []
    let mtu: Int? = nil
    private var device: TUNDevice?
    private let monitor: NetlinkMonitor

    /// Creates the interface, or takes over the one of an inherited descriptor.
    ///
    /// - Throws: ``InterfaceError``; nothing is left then.
    init(name: String, inherited: Descriptor?) throws {
        self.name = name
        monitor = try NetlinkMonitor()
        guard let inherited else {
            device = try LinuxInterface.makeDevice(name: name)
            let effects = try SystemEffects()
            let index = try effects.link(named: name).index
            let settings: [Request] = [
                .setLink(index, .mtu(Self.firstMTU)), .setLink(index, .transmitQueueLength(Self.queueLength)),
            ]
            if let error = effects.submit(settings).compactMap(\.self).first {
                throw InterfaceError(.notCreated, cause: "The interface \(name) could not be prepared: \(error).")
            }
            return
        }
        do {
            device = try TUNDevice(adopting: inherited.release(), options: LinuxInterface.deviceOptions)
        } catch {
            throw InterfaceError(.deviceInvalid, cause: "\(error.message.capitalizedFirst).")
        }
        guard device?.name == name else {
            throw InterfaceError(.deviceInvalid, cause: "The device that was passed on is not \(name).")
        }
    }

    var virtualHeaderLength: Int { Int(CTUN_VNET_HEADER) }

    var changeDescriptor: Int32 { monitor.fileDescriptor }

    func isLost() -> Bool {
        // Whatever happened is only a reason to look: an interface that was moved or renamed is still there.
        while let events = try? monitor.read(), !events.isEmpty {}
        return device?.name == nil
    }

    /// Nothing: what is set on the interface is the tools' affair.
    func restore() -> [String] { [] }

    /// Nothing: where the interface lies now, what it is beside is not known here.
    func hostNetworks() -> HostNetworks? { nil }

    func takeNetworkChange() -> Bool { false }

    func duplicateDevice() throws -> Descriptor {
        guard let device else { throw InterfaceError(.gone) }
        return Descriptor(adopting: try ChannelSystem.duplicate(device.descriptor))
    }

    func apply(_ settings: PacketTunnelNetworkSettings?) throws -> [SettingsShortfall] {
        throw TunnelProviderError(
            .networkSettingsInvalid, cause: "Tools look after the interface \(name), so it takes no settings.")
    }

    func openSockets(_ request: UDPSocketRequest) throws -> OpenedSockets {
        try OpenedSockets(port: request.port, mark: request.mark ?? 0)
    }

    func tearDown() -> [String] {
        device = nil
        return []
    }
}
