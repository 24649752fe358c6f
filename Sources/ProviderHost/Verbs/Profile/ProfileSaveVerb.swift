internal import Control
internal import Foundation
internal import HostRuntime
internal import ProviderKit

/// `profile save`: a profile as `profile show --json` prints it, saved whole.
enum ProfileSaveVerb {
    static let command = Command(
        name: "profile save", summary: "Save a profile from JSON, as `profile show --json` prints it.",
        positionals: [.init(name: "FILE")], options: [.json],
        discussion: """
            A profile with the identifier of a stored one replaces it, provided that nobody has saved it meanwhile
            (`generation`); any other becomes a new profile.
            """
    ) { arguments, console in
        let document = try ProfileDocument(path: arguments.positionals[0])
        let access = try ProfileAccess()
        let stored = try access.all().first { $0.identifier == document.identifier.uppercased() }
        if let stored, let generation = document.generation, generation != stored.generation {
            throw VPNError(
                .configurationStale, cause: "The profile was saved again since the file was written.",
                remedy: "Print it again, apply the change, and save that.")
        }
        let manager = stored ?? TunnelProviderManager(client: access.client)
        document.apply(to: manager)
        try save(manager, console, asJSON: arguments.wantsJSON)
        return .success
    }

    /// Saves a profile and says what became of it.
    static func save(_ manager: TunnelProviderManager, _ console: Console, asJSON: Bool) throws {
        try Waiting.run {
            try await manager.saveToPreferences()
            try await manager.loadFromPreferences()
        }
        for warning in manager.warnings { console.errors("\(CommandLineTool.name): warning: \(warning)\n") }
        if asJSON {
            console.print(json: ProfileReport(manager))
        } else {
            console.print("saved \((manager.localizedDescription ?? manager.identifier).printable)")
        }
    }
}
