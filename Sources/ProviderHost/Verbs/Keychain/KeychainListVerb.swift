internal import Control
internal import HostRuntime
internal import ProviderKit

/// `keychain list`: the names of secrets, never the secrets.
enum KeychainListVerb {
    static let command = Command(
        name: "keychain list", summary: "List the secrets in the keychain, by profile and name.",
        positionals: [.init(name: "NAME", isRequired: false)], options: [.json]
    ) { arguments, console in
        let access = try ProfileAccess()
        let managers = try arguments.positionals.first.map { [try access.manager(named: $0)] } ?? access.all()
        for manager in managers {
            for item in try items(of: manager, access) {
                let secret = item[.account]?.stringValue ?? ""
                let accessibility = item[.accessible]?.stringValue ?? ""
                if arguments.wantsJSON {
                    console.print(
                        json: Object(name: manager.localizedDescription, secret: secret, accessibility: accessibility))
                } else {
                    let name = manager.localizedDescription ?? manager.identifier
                    console.print([name, secret, accessibility].map(\.printable).joined(separator: " "))
                }
            }
        }
        return .success
    }

    /// The attributes of a profile's items.
    static func items(of manager: TunnelProviderManager, _ access: ProfileAccess) throws -> [KeychainQuery] {
        let query: KeychainQuery = [
            .itemClass: "genp", .service: .string(manager.identifier), .returnAttributes: true,
            .matchLimit: "m_LimitAll",
        ]
        do {
            return try access.client.call(
                .copyMatching,
                KeychainMessages.Query(query, application: manager.application, owner: manager.owner),
                reply: KeychainMessages.Items.self
            ).items.compactMap(\.attributes)
        } catch let error as TunnelFailure
            where error.errorDomain == KeychainStatus.domain && error.errorCode == KeychainStatus.itemNotFound.rawValue
        {
            return []
        }
    }

    /// The object of `--json`.
    private struct Object: Encodable {
        let schema = Report.schema
        let name: String?
        let secret: String
        let accessibility: String

        private enum CodingKeys: String, CodingKey { case schema, name, secret, accessibility }
    }
}
