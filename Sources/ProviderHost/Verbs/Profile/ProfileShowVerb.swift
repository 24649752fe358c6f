internal import Control
internal import HostRuntime
internal import ProviderKit

/// `profile show`: one profile, never what is secret of it.
enum ProfileShowVerb {
    static let command = Command(
        name: "profile show", summary: "Show a profile; secrets have their names in their place.",
        positionals: [.init(name: "NAME")], options: [.json]
    ) { arguments, console in
        let manager = try ProfileAccess().manager(named: arguments.positionals[0])
        if arguments.wantsJSON {
            console.print(json: ProfileDocument(manager))
            return .success
        }
        let provider = manager.protocolConfiguration
        let values = provider?.providerConfiguration ?? [:]
        let rows: [(String, String?)] = [
            ("name", manager.localizedDescription), ("identifier", manager.identifier),
            ("owner", "\(manager.owner)"), ("application", manager.application),
            ("enabled", manager.isEnabled ? "yes" : "no"), ("on demand", manager.isOnDemandEnabled ? "yes" : "no"),
            ("provider", provider?.providerBundleIdentifier), ("server", provider?.serverAddress),
            ("interface", values[TunnelProviderProtocol.interfaceNameKey]?.stringValue),
            ("status", manager.connection.status.description),
        ]
        for case (let key, let value?) in rows { console.print("\(key): \(value.printable)") }
        if let text = values[TunnelProviderProtocol.configurationTextKey]?.stringValue {
            console.print("configuration:")
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                console.print("  \(String(line).printable)")
            }
        }
        return .success
    }
}
