internal import Control
internal import HostRuntime
internal import ProviderKit

/// `keychain rotate`: replaces a secret, saves the fresh reference, and proves it by a start.
enum KeychainRotateVerb {
    static let command = Command(
        name: "keychain rotate", summary: "Replace a secret of a profile, and prove the new one by a start.",
        positionals: [.init(name: "NAME"), .init(name: "SECRET")],
        options: SecretInput.options + [
            .init(name: "no-start", summary: "Do not start the tunnel to prove it."),
            .init(name: "timeout", value: "SECONDS", summary: "The longest wait for the start; 90 else."),
        ],
        discussion: """
            The item is updated, a fresh reference taken and the profile saved with it, in one step; then the tunnel is
            started anew by the manager, which resolves the reference itself.
            """
    ) { arguments, console in
        let secret = try SecretInput.read(arguments)
        let access = try ProfileAccess()
        let manager = try access.manager(named: arguments.positionals[0])
        let name = arguments.positionals[1]
        let known = try KeychainListVerb.items(of: manager, access).compactMap { $0[.account]?.stringValue }
        guard known.contains(name) else {
            throw ProfileError(
                .notFound, cause: "The profile has no secret `\(name.printable)`.",
                remedy: known.isEmpty ? "Add it: keychain add NAME SECRET" : "It has: \(known.joined(separator: ", "))."
            )
        }
        manager.addSecret(name, secret)
        try ProfileSaveVerb.save(manager, console, asJSON: false)
        guard !arguments.switches.contains("no-start"), manager.isEnabled else { return .success }
        let seconds = try TimeoutOption.seconds(arguments, standard: 90)
        // A start that comes while the session is ending waits for its end.
        manager.connection.stopVPNTunnel()
        return try StartVerb.start(manager, seconds: seconds, console, asJSON: false)
    }
}
