internal import Control
internal import ProviderKit

/// Configurations: seen, saved, removed.
extension ManagerService {
    func list(_ call: IncomingCall, _ access: Access) throws -> [UInt8] {
        let application = try call.parameters(as: ManagerMessages.Application.self).application
        // By the keys of the dictionary: to write an identifier again for every comparison is what takes time.
        let visible = configurations.filter { _, configuration in
            (access.seesAll || configuration.owner == access.caller.user)
                && (application == nil || configuration.application == application)
        }
        .map { (key: $0, label: $1.content.localizedDescription ?? $0, configuration: $1) }
        .sorted { ($0.label, $0.key) < ($1.label, $1.key) }
        let shown = try visible.map { entry in
            let isTrusted = access.isTrusted || entry.configuration.owner == access.caller.user
            return try encoded(entry.configuration, entry.key, isRedacted: !isTrusted)
        }
        let states = try visible.compactMap { try sessions.tunnel($0.key)?.encodedState() }
        return WireCodec.reply(lists: ["configurations": shown, "sessions": states])
    }

    func get(_ access: Access) throws -> [UInt8] {
        let configuration = try subject(access)
        return try WireCodec.reply(
            ManagerMessages.Single(
                configuration: access.isTrusted ? configuration : configuration.redacted,
                session: try tunnel(access).state))
    }

    func save(_ call: IncomingCall, _ access: Access) throws -> [UInt8] {
        let request = try call.parameters(as: ManagerMessages.Save.self)
        try check(request.configuration, access)
        let saved = try commit(request.configuration, request.secrets ?? [])
        remember(saved)
        publishChange(of: saved)
        return try WireCodec.reply(
            ManagerMessages.Saved(generation: saved.content.generation ?? 0, warnings: warnings(about: saved)))
    }

    func remove(_ call: IncomingCall, _ access: Access) throws -> [UInt8] {
        let request = try call.parameters(as: ManagerMessages.Remove.self)
        try erase(try subject(access), generation: request.generation)
        // Told while it is still known whose it was.
        publishChange(of: try subject(access))
        onDemand?.remove(request.identifier)
        sessions.remove(request.identifier)
        configurations[request.identifier] = nil
        encodedConfigurations[request.identifier] = nil
        return try WireCodec.reply(NoParameters())
    }

    /// Takes a stored configuration over.
    func remember(_ configuration: ManagedConfiguration) {
        configurations[configuration.key] = configuration
        encodedConfigurations[configuration.key] = nil
        sessions.configure(configuration)
        putInForce(configuration)
    }

    /// A configuration as lists have it, made once until it is saved again.
    private func encoded(
        _ configuration: ManagedConfiguration, _ key: String, isRedacted: Bool
    ) throws -> [UInt8] {
        if let known = encodedConfigurations[key]?[isRedacted] { return known }
        let bytes = try WireCodec.object(isRedacted ? configuration.redacted : configuration)
        encodedConfigurations[key, default: [:]][isRedacted] = bytes
        return bytes
    }

    /// The configuration that a call is about.
    func subject(_ access: Access) throws -> ManagedConfiguration {
        guard let configuration = access.configuration else { throw VPNError(.configurationInvalid) }
        return configuration
    }

    /// The session of the configuration that a call is about.
    func tunnel(_ access: Access) throws -> ManagedTunnel {
        guard let tunnel = sessions.tunnel(try subject(access).key) else { throw VPNError(.configurationInvalid) }
        return tunnel
    }

    private func check(_ configuration: ManagedConfiguration, _ access: Access) throws {
        if let stored = access.configuration {
            guard configuration.owner == stored.owner, configuration.application == stored.application else {
                throw VPNError(
                    .configurationInvalid, cause: "A configuration keeps its owner and its application.",
                    remedy: "Remove it, and save a new one.")
            }
        }
        guard !configuration.isRedacted else {
            throw VPNError(
                .configurationInvalid, cause: "The configuration was loaded without what is secret of it.",
                remedy: "Load it as its owner or as root, change it, and save it.")
        }
        if access.caller.isRoot { return }
        guard configuration.owner == access.caller.user else {
            throw ControlError(
                .notPermitted, cause: "Only root may give a configuration to another user.",
                remedy: "Save it with your own user as its owner.")
        }
        let values = configuration.tunnelProvider?.providerConfiguration ?? [:]
        let allowsHooks = values[TunnelProviderProtocol.allowHooksKey]?.booleanValue ?? false
        guard !allowsHooks else {
            throw ControlError(
                .notPermitted, cause: "Only root may allow a configuration to run commands.",
                remedy: "Have root enable it with `profile edit NAME --allow-hooks yes`.")
        }
        guard values[TunnelProviderProtocol.masqueradeKey]?.booleanValue != true else {
            throw ControlError(
                .notPermitted, cause: "Only root may let a configuration make a router of this machine.",
                remedy: "Have root enable it with `profile edit NAME --masquerade yes`.")
        }
    }

    /// What works and is probably not meant, or does not work yet.
    private func warnings(about configuration: ManagedConfiguration) -> [String] {
        var warnings = OnDemandCheck.warnings(about: configuration.content.onDemandRules ?? [])
        do throws(BundleError) {
            if let provider = configuration.tunnelProvider {
                _ = try BundleIndex().bundle(provider.providerBundleIdentifier)
            }
        } catch {
            warnings.append("It cannot be started yet: \(error)")
        }
        return warnings
    }
}
