internal import Control
internal import ProviderKit

/// `keychain add`: a secret of a profile, by the name that its configuration has in its place.
enum KeychainAddVerb {
    static let command = Command(
        name: "keychain add", summary: "Put a secret of a profile into the keychain.",
        positionals: [.init(name: "NAME"), .init(name: "SECRET")], options: SecretInput.options,
        discussion: """
            Where the configuration has ${keychain:SECRET}, the provider sees the secret. The secret is read from the
            standard input or a file, never from the arguments.
            """
    ) { arguments, console in
        let secret = try SecretInput.read(arguments)
        let manager = try ProfileAccess().manager(named: arguments.positionals[0])
        manager.addSecret(arguments.positionals[1], secret)
        try ProfileSaveVerb.save(manager, console, asJSON: false)
        return .success
    }
}
