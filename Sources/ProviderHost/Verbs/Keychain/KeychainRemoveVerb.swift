internal import Control
internal import HostRuntime
internal import ProviderKit

/// `keychain remove`: deletes a secret; the profile keeps a reference that dangles.
enum KeychainRemoveVerb {
    static let command = Command(
        name: "keychain remove", summary: "Delete a secret of a profile from the keychain.",
        positionals: [.init(name: "NAME"), .init(name: "SECRET")],
        discussion: "The profile cannot be started then, until the secret is added again."
    ) { arguments, console in
        let access = try ProfileAccess()
        let manager = try access.manager(named: arguments.positionals[0])
        let name = arguments.positionals[1]
        let query: KeychainQuery = [
            .itemClass: "genp", .service: .string(manager.identifier), .account: .string(name),
        ]
        _ = try access.client.call(
            .deleteItems, KeychainMessages.Query(query, application: manager.application, owner: manager.owner),
            reply: NoParameters.self)
        console.print("removed \(name.printable)")
        return .success
    }
}
