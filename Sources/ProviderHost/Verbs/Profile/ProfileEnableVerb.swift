internal import Control

/// `profile enable` and `profile disable`: whether a profile may be started.
enum ProfileEnableVerb {
    static let enable = command("enable", "Allow a profile to be started.", isEnabled: true)
    static let disable = command(
        "disable", "Stop a profile's tunnel, and do not allow it to be started.", isEnabled: false)

    private static func command(_ word: String, _ summary: String, isEnabled: Bool) -> Command {
        Command(
            name: "profile \(word)", summary: summary, positionals: [.init(name: "NAME")], options: [.json]
        ) { arguments, console in
            let manager = try ProfileAccess().manager(named: arguments.positionals[0])
            manager.isEnabled = isEnabled
            try ProfileSaveVerb.save(manager, console, asJSON: arguments.wantsJSON)
            return .success
        }
    }
}
