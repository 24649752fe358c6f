internal import NetworkSettings
internal import ProviderKit

/// A TUN interface in a network namespace of its own, which has its name.
///
/// The worker's sockets stay in the namespace of this process, so nothing has to keep them out of the tunnel.
final class IsolatedInterface: SessionInterface {
    let remarks: [String]
    private let space: IsolatedSpace
    private let interface: LinuxInterface

    /// Makes the namespace and the interface in it, and removes namespaces that processes which were killed have left.
    ///
    /// - Parameters:
    ///   - name: The name of both.
    ///   - setsDNS: Whether DNS settings are given to the programs inside.
    /// - Throws: ``InterfaceError``, or a ``TunnelError`` of the namespace; nothing is left then.
    init(name: String, setsDNS: Bool) throws {
        let (removed, failures) = IsolatedSpace.sweep()
        let space = try IsolatedSpace(name)
        do {
            interface = try space.inside {
                try LinuxInterface(name: name, isAlone: true) { () throws(ResolverError) in
                    setsDNS ? space.resolver : NoResolver.leftAlone
                }
            }
        } catch {
            _ = space.remove()
            throw error
        }
        self.space = space
        remarks =
            failures + removed.map { "Removed the network namespace \($0) that an earlier process left." }
            + interface.remarks
    }

    var name: String { interface.name }
    var mtu: Int? { interface.mtu }
    var virtualHeaderLength: Int { interface.virtualHeaderLength }
    var changeDescriptor: Int32 { interface.changeDescriptor }

    func isLost() -> Bool { interface.isLost() }

    func restore() -> [String] {
        do {
            return try space.inside { interface.restore() }
        } catch {
            return [TunnelFailure(error).cause]
        }
    }

    /// Nothing: there is no other interface in the namespace.
    func hostNetworks() -> HostNetworks? { nil }

    func takeNetworkChange() -> Bool { false }

    func duplicateDevice() throws -> Descriptor { try interface.duplicateDevice() }

    func apply(_ settings: PacketTunnelNetworkSettings?) throws -> [SettingsShortfall] {
        try space.inside { try interface.apply(settings) }
    }

    func openSockets(_ request: UDPSocketRequest) throws -> OpenedSockets {
        // Other tunnels' rules would take a mark of ours for one of theirs.
        try OpenedSockets(port: request.port, mark: request.mark ?? 0)
    }

    func tearDown() -> [String] {
        var remains: [String]
        do {
            remains = try space.inside { interface.tearDown() }
        } catch {
            remains = [TunnelFailure(error).cause]
        }
        return remains + space.remove()
    }
}
