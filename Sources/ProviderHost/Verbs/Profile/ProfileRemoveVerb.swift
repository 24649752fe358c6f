internal import Control
internal import HostRuntime

/// `profile remove`: the profile, its tunnel and its secrets.
enum ProfileRemoveVerb {
    static let command = Command(
        name: "profile remove", summary: "Stop a profile's tunnel, and remove the profile with its secrets.",
        positionals: [.init(name: "NAME")]
    ) { arguments, console in
        let name = arguments.positionals[0]
        let manager = try ProfileAccess().manager(named: name)
        try Waiting.run { try await manager.removeFromPreferences() }
        console.print("removed \(name.printable)")
        return .success
    }
}
