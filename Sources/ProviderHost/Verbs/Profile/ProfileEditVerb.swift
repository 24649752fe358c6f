internal import Control
internal import HostRuntime
internal import ProviderKit

/// `profile edit`: changes parts of a profile.
enum ProfileEditVerb {
    static let command = Command(
        name: "profile edit", summary: "Change a profile.", positionals: [.init(name: "NAME")],
        options: [
            .init(name: "name", value: "NAME", summary: "Give it another name."),
            .init(name: "config", value: "FILE", summary: "Replace its configuration, keys into the keychain."),
            .init(name: "bundle-id", value: "ID", summary: "The bundle that serves it."),
            .init(
                name: "interface", value: "NAME", summary: "The name of the interface; `auto` for the first free one."),
            .init(name: "isolation", value: "KIND", summary: "none, or namespace: a network of its own."),
            .init(name: "server", value: "ADDRESS", summary: "The label of the server."),
            .init(name: "on-demand", value: "yes|no", summary: "Let the rules start and stop the tunnel."),
            .init(
                name: "rules", value: "FILE", summary: "Replace the on-demand rules: JSON, as `profile show` has them."),
            .init(name: "disconnect-on-sleep", value: "yes|no", summary: "Stop the tunnel when the machine sleeps."),
            .init(name: "allow-hooks", value: "yes|no", summary: "Let the configuration run commands."),
            .init(
                name: "masquerade", value: "yes|no",
                summary: "Let clients behind the tunnel out to other networks with this machine's address."),
            .json,
        ]
    ) { arguments, console in
        let manager = try ProfileAccess().manager(named: arguments.positionals[0])
        var provider = manager.protocolConfiguration ?? TunnelProviderProtocol(providerBundleIdentifier: "")
        if let name = arguments.values["name"] { manager.localizedDescription = try ProfileAccess.checkedName(name) }
        if let path = arguments.values["config"] {
            let file = try ConfigurationFile(path: path)
            for secret in ImportedConfiguration.apply(file, to: &provider) {
                manager.addSecret(secret.name, Array(secret.value.utf8))
            }
        }
        if let identifier = arguments.values["bundle-id"] { provider.providerBundleIdentifier = identifier }
        if let interface = arguments.values["interface"] {
            provider.providerConfiguration[TunnelProviderProtocol.interfaceNameKey] =
                interface == "auto" ? nil : .string(try RunRequest.checkedInterfaceName(interface))
        }
        if let isolation = try arguments.values["isolation"].map(RunRequest.isolation) {
            provider.providerConfiguration[TunnelProviderProtocol.isolationKey] = .string(isolation.rawValue)
        }
        if let server = arguments.values["server"] { provider.serverAddress = server }
        if let value = try answer("disconnect-on-sleep", arguments) { provider.disconnectOnSleep = value }
        if let value = try answer("allow-hooks", arguments) {
            provider.providerConfiguration[TunnelProviderProtocol.allowHooksKey] = .boolean(value)
        }
        if let path = arguments.values["rules"] { manager.onDemandRules = try ProfileDocument.rules(path: path) }
        if let value = try answer("on-demand", arguments) { manager.isOnDemandEnabled = value }
        if let value = try answer("masquerade", arguments) {
            provider.providerConfiguration[TunnelProviderProtocol.masqueradeKey] = .boolean(value)
        }
        manager.protocolConfiguration = provider
        try ProfileSaveVerb.save(manager, console, asJSON: arguments.wantsJSON)
        return .success
    }

    private static func answer(_ option: String, _ arguments: Arguments) throws(UsageError) -> Bool? {
        switch arguments.values[option] {
        case nil: return nil
        case "yes": return true
        case "no": return false
        case let text?:
            throw UsageError(
                .invalidValue, cause: "`\(text.printable)` is neither yes nor no.",
                remedy: "Write --\(option) yes, or --\(option) no.")
        }
    }
}
