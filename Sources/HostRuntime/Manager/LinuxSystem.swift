internal import Foundation
internal import Netlink
internal import NetworkSettings
internal import PacketPath
internal import ProviderKit
internal import SystemStore

/// The machine that a session really runs on: TUN devices and worker processes.
struct LinuxSystem: SessionSystem {
    let dnsBackend: DNSBackend
    /// Who looks after the interface.
    let interfaceCare: InterfaceCare
    /// What may not leave beside the tunnel; nil for no restriction.
    let killSwitch: KillSwitch?

    /// The machine as a session with this configuration needs it.
    init(_ configuration: HostConfiguration) {
        dnsBackend = configuration.dnsBackend
        interfaceCare = configuration.interfaceCare
        killSwitch = KillSwitch(configuration.protocolConfiguration)
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
                return try LinuxInterface(
                    name: try firstFreeName(), dnsBackend: dnsBackend, killSwitch: killSwitch)
            } catch let error as InterfaceError where error.code == .exists {
                continue
            }
        }
        return try LinuxInterface(name: name, dnsBackend: dnsBackend, killSwitch: killSwitch)
    }

    func stateDirectory(of bundleIdentifier: String) throws -> String {
        try StateFolder(environment: ProcessInfo.processInfo.environment).prepareProviderFolder(bundleIdentifier)
    }

    func spawnWorker(channel: Descriptor) throws -> any SessionWorker {
        try ChildProcess(worker: ChildProcess.ownExecutable, channel: channel)
    }

    private func firstFreeName() throws -> String {
        let taken = try Set(NetlinkSocket().links().map(\.name))
        guard let name = InterfaceName.candidates.first(where: { !taken.contains($0) }) else {
            throw InterfaceError(.noFreeName)
        }
        return name
    }
}
