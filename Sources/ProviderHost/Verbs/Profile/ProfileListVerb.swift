internal import Control
internal import HostRuntime
internal import ProviderKit

/// `profile list`: every profile that the caller may see.
enum ProfileListVerb {
    static let command = Command(
        name: "profile list", summary: "List the profiles.", options: [.json]
    ) { arguments, console in
        let managers = try ProfileAccess().all()
        for manager in managers {
            if arguments.wantsJSON {
                console.print(json: ProfileReport(manager))
            } else {
                let words = [
                    manager.localizedDescription ?? manager.identifier, manager.isEnabled ? "enabled" : "disabled",
                    manager.protocolConfiguration?.providerBundleIdentifier ?? "",
                    manager.connection.status.description,
                ]
                console.print(words.map(\.printable).joined(separator: " "))
            }
        }
        return .success
    }
}
