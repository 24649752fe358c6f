internal import Control
internal import HostRuntime
internal import ProviderKit

/// `keychain unlock`, `lock` and `passphrase`: whether items that are readable only while it is unlocked can be read.
enum KeychainUnlockVerb {
    static let unlock = Command(
        name: "keychain unlock", summary: "Open the keychain.", options: SecretInput.options,
        discussion: "The passphrase is read from the standard input or a file; nothing where the keychain has none."
    ) { arguments, _ in
        let passphrase = try SecretInput.readText(arguments)
        _ = try ProfileAccess().client.call(
            .unlockKeychain, KeychainMessages.Passphrase(passphrase: passphrase), reply: NoParameters.self)
        return .success
    }

    static let lock = Command(
        name: "keychain lock", summary: "Close the keychain; what is readable after the first unlock stays readable."
    ) { _, _ in
        _ = try ProfileAccess().client.call(.lockKeychain, NoParameters(), reply: NoParameters.self)
        return .success
    }

    static let passphrase = Command(
        name: "keychain passphrase", summary: "Set, change or take away the passphrase of the keychain.",
        options: [
            .init(name: "old", value: "FILE", summary: "The file with the passphrase so far; none without it."),
            .init(name: "new", value: "FILE", summary: "The file with the passphrase from now on; none without it."),
        ]
    ) { arguments, _ in
        func text(_ option: String) throws -> String? {
            guard let path = arguments.values[option] else { return nil }
            return try SecretInput.readText(Arguments(command: arguments.command, values: ["file": path]))
        }
        _ = try ProfileAccess().client.call(
            .changeKeychainPassphrase, KeychainMessages.PassphraseChange(from: try text("old"), to: try text("new")),
            reply: NoParameters.self)
        return .success
    }
}
