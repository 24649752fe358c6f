internal import Control
internal import Glibc
internal import HostRuntime
internal import ProviderKit

/// `profile import`: a configuration file becomes a profile, its keys go into the keychain.
enum ProfileImportVerb {
    static let command = Command(
        name: "profile import", summary: "Make a profile of a configuration file.",
        positionals: [.init(name: "FILE")],
        options: [
            .init(name: "name", value: "NAME", summary: "The name of the profile; that of the file else."),
            .init(
                name: "bundle-id", value: "ID", summary: "The bundle that serves it; org.providerhost.wireguard else."),
            .init(name: "interface", value: "NAME", summary: "The name of the interface; the first free phtunN else."),
            .init(name: "isolation", value: "KIND", summary: "none (the default), or namespace: a network of its own."),
            .init(name: "owner", value: "USER", summary: "Whose the profile is; the caller's else."),
            .init(name: "replace", summary: "Replace the profile of this name."),
            .init(name: "disabled", summary: "Do not allow it to be started yet."),
            .init(
                name: "allow-hooks", summary: "Let the configuration run commands (PreUp, PostUp, PreDown, PostDown)."),
            .json,
        ],
        discussion: """
            Values of PrivateKey and PresharedKey go into the keychain; the profile has their names in their place.
            """
    ) { arguments, console in
        let path = arguments.positionals[0]
        let file = try ConfigurationFile(path: path)
        if let warning = file.warning { console.errors("\(CommandLineTool.name): warning: \(warning)\n") }
        let name = try ProfileAccess.checkedName(arguments.values["name"] ?? stem(of: path))
        let access = try ProfileAccess()
        let manager = try manager(name, access, replaces: arguments.switches.contains("replace"))
        var provider =
            manager.protocolConfiguration
            ?? TunnelProviderProtocol(providerBundleIdentifier: "org.providerhost.wireguard")
        if let identifier = arguments.values["bundle-id"] { provider.providerBundleIdentifier = identifier }
        if let interface = arguments.values["interface"] {
            provider.providerConfiguration[TunnelProviderProtocol.interfaceNameKey] = .string(
                try RunRequest.checkedInterfaceName(interface))
        }
        if let isolation = try arguments.values["isolation"].map(RunRequest.isolation) {
            provider.providerConfiguration[TunnelProviderProtocol.isolationKey] = .string(isolation.rawValue)
        }
        provider.providerConfiguration[TunnelProviderProtocol.allowHooksKey] = .boolean(
            arguments.switches.contains("allow-hooks"))
        let secrets = ImportedConfiguration.apply(file, to: &provider)
        manager.localizedDescription = name
        manager.protocolConfiguration = provider
        manager.isEnabled = !arguments.switches.contains("disabled")
        if let owner = arguments.values["owner"] { manager.owner = try user(owner) }
        for secret in secrets { manager.addSecret(secret.name, Array(secret.value.utf8)) }
        try ProfileSaveVerb.save(manager, console, asJSON: arguments.wantsJSON)
        return .success
    }

    /// A manager for a new profile, or that of the profile that is replaced.
    private static func manager(
        _ name: String, _ access: ProfileAccess, replaces: Bool
    ) throws -> TunnelProviderManager {
        let found = try access.all().filter { $0.localizedDescription == name }
        guard let first = found.first else { return TunnelProviderManager(client: access.client) }
        guard replaces, found.count == 1 else {
            throw ProfileError(.exists, cause: "The profile `\(name.printable)` exists already.")
        }
        return first
    }

    /// The name of the file without its folder and its ending.
    private static func stem(of path: String) -> String {
        let file = path.split(separator: "/").last.map(String.init) ?? path
        return file.split(separator: ".").dropLast().joined(separator: ".").isEmpty
            ? file : file.split(separator: ".").dropLast().joined(separator: ".")
    }

    private static func user(_ text: String) throws(UsageError) -> UInt32 {
        if let number = UInt32(text) ?? UserNames.number(of: text) { return number }
        throw UsageError(
            .invalidValue, cause: "There is no user `\(text.printable)`.",
            remedy: "Give a name or a number of a user of this machine in --owner.")
    }
}
