/// Every verb there is.
enum CommandTable {
    /// The verbs in the order of the help.
    static let all: [Command] =
        [RunVerb.command, WireGuardVerb.command, DaemonVerb.command] + profiles + sessions + keychain + GatewayVerbs.all
        + [SettingsShowVerb.command, SettingsDiffVerb.command, SettingsWhyVerb.command]
        + [
            ShowVerb.command, MetricsVerb.command, SweepVerb.command, DoctorVerb.command, BundlesVerb.command,
            NewProviderVerb.command,
            CompletionsVerb.completions, CompletionsVerb.manual, VersionVerb.command, HelpVerb.command,
            WorkerVerb.command,
        ]

    /// What the verbs that begin with the same word are about, in one line.
    static let families = [
        "gateway": "Keep a gateway: peers, addresses and what is pushed; see `help gateway`.",
        "profile": "Keep profiles, which the daemon runs; see `help profile`.",
        "settings": "Explain the settings of running tunnels, pushed ones above all; see `help settings`.",
        "keychain": "Keep the secrets of profiles; see `help keychain`.",
    ]

    private static let profiles: [Command] = [
        ProfileImportVerb.command, ProfileSaveVerb.command, ProfileListVerb.command, ProfileShowVerb.command,
        ProfileEditVerb.command, ProfileEnableVerb.enable, ProfileEnableVerb.disable, ProfileRemoveVerb.command,
        ProfileLintVerb.command,
    ]

    private static let sessions: [Command] = [
        StartVerb.command, StopVerb.command, StatusVerb.command, MessageVerb.command, CountersVerb.command,
        LogVerb.command, EvaluateVerb.command,
    ]

    private static let keychain: [Command] = [
        KeychainAddVerb.command, KeychainListVerb.command, KeychainRotateVerb.command, KeychainRemoveVerb.command,
        KeychainUnlockVerb.unlock, KeychainUnlockVerb.lock, KeychainUnlockVerb.passphrase,
    ]
}
