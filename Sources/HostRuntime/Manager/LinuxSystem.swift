internal import Foundation
internal import Netlink
internal import NetworkSettings
internal import PacketPath
internal import ProviderKit
internal import SystemStore

/// The machine that a session really runs on: TUN devices and worker processes.
struct LinuxSystem: SessionSystem {
    private let dnsBackend: DNSBackend
    private let interfaceCare: InterfaceCare
    /// What may not leave beside the tunnel; nil for no restriction.
    private let killSwitch: KillSwitch?
    private let masquerades: Bool
    private let isolation: Isolation

    /// The machine as a session with this configuration needs it.
    ///
    /// - Throws: ``InterfaceError`` for an isolation that there is not.
    init(_ configuration: HostConfiguration) throws(InterfaceError) {
        let provider = configuration.protocolConfiguration
        dnsBackend = configuration.dnsBackend
        interfaceCare = configuration.interfaceCare
        killSwitch = KillSwitch(provider)
        masquerades = provider.providerConfiguration[TunnelProviderProtocol.masqueradeKey] == .boolean(true)
        isolation = try Isolation(provider)
    }

    func interfaceName(wanted: String?) throws -> String {
        if let wanted {
            guard InterfaceName.isValid(wanted) else {
                throw InterfaceError(.nameInvalid, cause: "\"\(wanted)\" is no name for an interface.")
            }
            return wanted
        }
        return try firstFreeName()
    }

    func makeInterface(name: String, isFixed: Bool) throws -> any SessionInterface {
        if case .tools(let device, _) = interfaceCare { return try ToolInterface(name: name, inherited: device) }
        // Somebody else may take a free name between the look and the creation: look again then.
        for _ in 0..<16 where !isFixed {
            do {
                return try makeOwnInterface(try firstFreeName())
            } catch let error as InterfaceError where error.code == .exists {
                continue
            } catch let error as IsolationError where error.code == .nameTaken {
                continue
            }
        }
        return try makeOwnInterface(name)
    }

    private func makeOwnInterface(_ name: String) throws -> any SessionInterface {
        switch isolation {
        // From a namespace nothing leaves beside the tunnel, so a kill switch has nothing to do.
        case .namespace: try IsolatedInterface(name: name, setsDNS: dnsBackend != .none)
        case .none:
            try LinuxInterface(
                name: name, killSwitch: killSwitch, masquerades: masquerades, resolver: dnsBackend.make)
        }
    }

    func stateDirectory(of bundleIdentifier: String) throws -> String {
        try StateFolder(environment: ProcessInfo.processInfo.environment).prepareProviderFolder(bundleIdentifier)
    }

    func spawnWorker(channel: Descriptor) throws -> any SessionWorker {
        try ChildProcess(worker: ChildProcess.ownExecutable, channel: channel)
    }

    private func firstFreeName() throws -> String {
        let taken = try Set(NetlinkSocket().links().map(\.name)).union(IsolatedSpace.names)
        guard let name = InterfaceName.candidates.first(where: { !taken.contains($0) }) else {
            throw InterfaceError(.noFreeName)
        }
        return name
    }
}
