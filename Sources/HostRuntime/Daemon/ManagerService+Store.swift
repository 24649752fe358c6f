internal import Control
internal import OnDemand
internal import ProviderKit
internal import SystemStore

/// The store behind the service: each change is one transaction, and what is remembered is what it holds.
extension ManagerService {
    /// The name that the secret of ``VPNProtocolValues/passwordReference`` has in a configuration.
    private static let passwordName = "password"

    /// Loads everything, and tells of sessions that the manager before this one did not end.
    func loadConfigurations() throws {
        let (all, started) = try store.perform { session in
            let started = try session.startedSessions()
            for identifier in started.keys {
                try session.setSession(nil, of: identifier)
                try session.setLastDisconnectError(
                    TunnelFailure(
                        VPNConnectionError(
                            .pluginFailed, cause: "The manager ended while the tunnel was up.",
                            remedy: "Start the tunnel again.")),
                    of: identifier)
            }
            return (try session.allConfigurations(), started)
        }
        for owned in all {
            remember(ManagedConfiguration(owned.configuration, application: owned.application, owner: owned.user))
        }
        for configuration in all.map(\.configuration.identifier) {
            let error = try store.read { try $0.lastDisconnectError(of: configuration) }
            sessions.tunnel(configuration.description)?.state.error = error
        }
        if !started.isEmpty { writeLine(.warning, "\(started.count) tunnels were up when the manager before ended.") }
    }

    /// Saves a configuration together with secrets, in one transaction.
    func commit(_ configuration: ManagedConfiguration, _ secrets: [NewSecret]) throws -> ManagedConfiguration {
        let client = configuration.storeClient
        var saved = configuration
        saved.content = try store.perform { session in
            var content = configuration.content
            if !secrets.isEmpty, case .tunnelProvider(var provider) = content.protocolConfiguration {
                let key = TunnelProviderProtocol.keychainReferencesKey
                var references: [String: PropertyListValue] = [:]
                if case .dictionary(let known)? = provider.providerConfiguration[key] { references = known }
                for secret in secrets {
                    references[secret.name] = .data(
                        try Self.keep(secret, for: content.identifier, client, session).bytes)
                }
                provider.providerConfiguration[key] = .dictionary(references)
                content.protocolConfiguration = .tunnelProvider(provider)
            }
            return try session.save(content, of: client)
        }
        return saved
    }

    /// Removes a configuration and the secrets that were saved with it.
    func erase(_ configuration: ManagedConfiguration, generation: UInt64?) throws {
        guard generation ?? configuration.content.generation == configuration.content.generation else {
            throw VPNError(.configurationStale)
        }
        try store.perform { session in
            try session.remove(configuration.content.identifier, of: configuration.storeClient)
            do {
                try session.deleteItems(
                    [.itemClass: "genp", .service: .string(configuration.key)], configuration.storeClient)
            } catch let error as KeychainError where error.code == .itemNotFound {
                // It had none.
            }
        }
    }

    /// The secrets that a configuration refers to, resolved without any client; nil where it refers to none.
    ///
    /// - Throws: ``KeychainError`` that tells a deleted item from a locked keychain and a foreign item.
    func secrets(of configuration: ManagedConfiguration) throws -> SessionSecrets? {
        guard let provider = configuration.tunnelProvider else { return nil }
        var references: [(String, KeychainReference)] = []
        if case .dictionary(let named)? = provider.providerConfiguration[TunnelProviderProtocol.keychainReferencesKey] {
            for case (let name, .data(let bytes)) in named { references.append((name, KeychainReference(bytes))) }
        }
        if let password = provider.passwordReference { references.append((Self.passwordName, password)) }
        guard !references.isEmpty else { return nil }
        let client = configuration.storeClient
        let secrets = try store.read { session in
            try references.map { (name: $0.0, value: try session.secret(for: $0.1, client)) }
        }
        return try SessionSecrets(secrets)
    }

    /// Notes beside a configuration that its session began, or how it ended.
    func note(_ session: UniqueIdentifier?, of key: String, error: TunnelFailure?) {
        if session != nil { onDemand?.send(.sessionBegan, to: key) }
        guard let identifier = UniqueIdentifier(key), configurations[key] != nil else { return }
        do {
            try store.perform {
                try $0.setSession(session, of: identifier)
                try $0.setLastDisconnectError(error, of: identifier)
            }
        } catch {
            writeLine(.error, "The state of a session could not be kept: \(error)")
        }
    }

    /// Adds a secret, or replaces it, and gives the reference to it.
    private static func keep(
        _ secret: NewSecret, for identifier: UniqueIdentifier, _ client: StoreClient, _ session: StoreSession
    ) throws -> KeychainReference {
        let query: KeychainQuery = [
            .itemClass: "genp", .service: .string(identifier.description), .account: .string(secret.name),
        ]
        var attributes: KeychainQuery = [.valueData: .data(secret.bytes)]
        attributes[.accessible] = .string(secret.accessibility ?? "ck")
        do {
            try session.updateItems(query, to: attributes, client)
        } catch let error as KeychainError where error.code == .itemNotFound {
            return try session.addItem(KeychainQuery(query.values.merging(attributes.values) { $1 }), client).reference
        }
        guard let match = try session.copyMatching(query, client).first else { throw KeychainError(.itemNotFound) }
        return match.reference
    }
}

extension ManagedConfiguration {
    /// Whose the configuration and its secrets are, as the store names owners.
    var storeClient: StoreClient { StoreClient(user: owner, application: application) }
}
