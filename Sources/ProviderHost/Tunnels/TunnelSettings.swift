internal import Control
internal import HostRuntime
internal import ProviderKit
internal import SettingsPush

/// What a running tunnel tells of its settings.
struct TunnelSettings: Sendable {
    /// The interface, or the profile where that was asked.
    let name: String
    let report: SettingsReport

    /// The operation of the control protocol that asks for it; a provider takes it as a message too.
    private static let request = "get=settings\n\n"
    private static let directory = "wireguard"

    /// Asks one tunnel, or every one that tells its settings: by their control sockets those of this machine, by the daemon
    /// those of the caller's profiles.
    ///
    /// - Parameter name: An interface or a profile; nil for all.
    /// - Returns: At least one.
    /// - Throws: ``TunnelsError`` when there is none, or the one does not tell.
    static func all(named name: String?) throws -> [TunnelSettings] {
        if let name { return [try one(name)] }
        let interfaces = ControlSocketClient.interfaces(in: directory)
        var found = interfaces.compactMap { try? ask($0) }
        found += profiles().filter { profile in !found.contains { $0.name == profile.interface } }
            .compactMap { try? ask($0) }
        guard !found.isEmpty else {
            throw TunnelsError(.noSuchTunnel, cause: "No tunnel runs here that tells its settings.")
        }
        return found
    }

    private static func one(_ name: String) throws -> TunnelSettings {
        if InterfaceName.isValid(name), ControlSocketClient.interfaces(in: directory).contains(name) {
            return try ask(name)
        }
        guard let profile = profiles().first(where: { $0.name == name || $0.interface == name }) else {
            throw TunnelsError(
                .noSuchTunnel, cause: "No tunnel runs whose interface or profile is `\(name.printable)`.")
        }
        return try ask(profile)
    }

    private static func ask(_ interface: String) throws(TunnelsError) -> TunnelSettings {
        let reply: [UInt8]
        do {
            reply = try ControlSocketClient.ask(request, directory: directory, interface: interface)
        } catch {
            throw TunnelsError(.noSuchTunnel, cause: "The tunnel \(interface) cannot be asked: \(error.cause)")
        }
        return try TunnelSettings(name: interface, reply: reply)
    }

    /// A profile that may be asked by way of the daemon.
    private struct Profile {
        let name: String
        let interface: String?
        let send: @Sendable ([UInt8]) async throws -> [UInt8]?
    }

    /// The profiles that run; none without a daemon.
    private static func profiles() -> [Profile] {
        let managers = (try? ProfileAccess().all()) ?? []
        return managers.filter { [.connecting, .connected, .reasserting].contains($0.connection.status) }.map {
            manager in
            let session = manager.connection
            return Profile(
                name: manager.localizedDescription ?? manager.identifier, interface: session.interfaceName
            ) { try await session.sendProviderMessage($0) }
        }
    }

    private static func ask(_ profile: Profile) throws -> TunnelSettings {
        let send = profile.send
        guard let reply = try Waiting.run({ try await send(Array(request.utf8)) }) else {
            throw TunnelsError(.notTold, cause: "The provider of \(profile.name.printable) tells no settings.")
        }
        return try TunnelSettings(name: profile.name.printable, reply: reply)
    }

    /// Reads a reply: the lines of the report, and how the operation ended.
    init(name: String, reply: [UInt8]) throws(TunnelsError) {
        self.name = name
        let unsupported = "errno=95\n\n"
        if reply.elementsEqual(unsupported.utf8) {
            throw TunnelsError(
                .notTold, cause: "The settings of \(name) are kept by others: a gateway's registry, or wg-quick.")
        }
        let end = "errno=0\n\n"
        guard let text = String(validating: reply, as: UTF8.self), text.hasSuffix(end),
            let report = SettingsReport(text: String(text.dropLast(end.count)))
        else {
            throw TunnelsError(
                .noAnswer, cause: "The tunnel \(name) gives no answer that can be read.",
                remedy: "It may be another program's, or of another version; see `\(CommandLineTool.name) version`.")
        }
        self.report = report
    }
}
