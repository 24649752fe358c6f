internal import Control
private import Dispatch
internal import ProviderKit
internal import SystemStore

/// The keychain, with the Security framework's calls.
extension ManagerService {
    func performKeychain(
        _ method: ManagerMethod, _ call: IncomingCall, _ access: Access, _ connection: ServerConnection
    ) throws -> ControlServer.Outcome {
        switch method {
        case .addItem:
            let request = try call.parameters(as: KeychainMessages.Query.self)
            let client = try client(request.application, request.owner, access)
            let match = try store.performOnKeychain { try $0.addItem(request.query, client) }
            onDemand?.retry()
            return .reply(try reply([match], to: request.query))
        case .copyMatching:
            let request = try call.parameters(as: KeychainMessages.Query.self)
            let client = try client(request.application, request.owner, access)
            return .reply(try reply(try store.read { try $0.copyMatching(request.query, client) }, to: request.query))
        case .updateItems:
            let request = try call.parameters(as: KeychainMessages.Update.self)
            let client = try client(request.application, request.owner, access)
            try store.performOnKeychain { try $0.updateItems(request.query, to: request.attributes, client) }
            onDemand?.retry()
        case .deleteItems:
            let request = try call.parameters(as: KeychainMessages.Query.self)
            let client = try client(request.application, request.owner, access)
            try store.performOnKeychain { try $0.deleteItems(request.query, client) }
        case .unlockKeychain:
            let passphrase = try call.parameters(as: KeychainMessages.Passphrase.self).passphrase
            let retry = onDemand?.retry
            return answerLater(connection) { store in
                try store.performOnKeychain { try $0.unlockKeychain(passphrase.map { SecretBytes($0) }) }
                retry?()
            }
        case .lockKeychain: try store.performOnKeychain { $0.lockKeychain() }
        case .changeKeychainPassphrase:
            let request = try call.parameters(as: KeychainMessages.PassphraseChange.self)
            return answerLater(connection) { store in
                try store.performOnKeychain {
                    try $0.changeKeychainPassphrase(
                        from: request.old.map { SecretBytes($0) }, to: request.new.map { SecretBytes($0) })
                }
            }
        case .list, .get, .save, .remove, .start, .stop, .watch, .sendMessage, .fetchLastDisconnectError, .counters,
            .log, .explain, .evaluateConnection:
            throw InvalidParameter(parameter: "method")
        }
        return .reply(try WireCodec.reply(NoParameters()))
    }

    /// Does what takes long (a passphrase is stretched for a second) while the loop goes on.
    private func answerLater(
        _ connection: ServerConnection, _ body: @escaping @Sendable (SystemStore) throws -> Void
    ) -> ControlServer.Outcome {
        let (store, inbox, token) = (store, sessions.inbox, connection.token)
        DispatchQueue.global().async {
            let reply: [UInt8]
            do {
                try body(store)
                reply = try WireCodec.reply(NoParameters())
            } catch {
                reply = Self.refusal(error)
            }
            inbox.put(.answer(connection: token, reply))
        }
        return .later
    }

    /// Whose items a call means.
    private func client(_ application: String?, _ owner: UInt32?, _ access: Access) throws -> StoreClient {
        let user = owner ?? access.caller.user
        guard access.caller.isRoot || user == access.caller.user else {
            throw ControlError(
                .notPermitted, cause: "User \(access.caller.user) may not use the keychain of user \(user).",
                remedy: "Leave the owner out, or do it as root.")
        }
        return StoreClient(user: user, application: application ?? ManagerClient.toolName)
    }

    /// What a query asks for, and nothing else.
    private func reply(_ matches: [KeychainMatch], to query: KeychainQuery) throws -> [UInt8] {
        let wantsReference = query[.returnPersistentReference]?.booleanValue ?? false
        return try WireCodec.reply(
            KeychainMessages.Items(
                items: matches.map { match in
                    KeychainMessages.Item(
                        reference: wantsReference ? match.reference : nil, attributes: match.attributes,
                        data: match.data?.unprotectedCopy())
                }))
    }
}
