/// Every verb there is.
enum CommandTable {
    /// The verbs in the order of the help.
    static let all: [Command] = [
        RunVerb.command, DaemonVerb.command,
        ProfileImportVerb.command, ProfileSaveVerb.command, ProfileListVerb.command, ProfileShowVerb.command,
        ProfileEditVerb.command, ProfileEnableVerb.enable, ProfileEnableVerb.disable, ProfileRemoveVerb.command,
        ProfileLintVerb.command,
        StartVerb.command, StopVerb.command, StatusVerb.command, MessageVerb.command, CountersVerb.command,
        LogVerb.command,
        KeychainAddVerb.command, KeychainListVerb.command, KeychainRotateVerb.command, KeychainRemoveVerb.command,
        KeychainUnlockVerb.unlock, KeychainUnlockVerb.lock, KeychainUnlockVerb.passphrase,
        BundlesVerb.command, NewProviderVerb.command, CompletionsVerb.completions, CompletionsVerb.manual,
        VersionVerb.command, HelpVerb.command, WorkerVerb.command,
    ]
}
