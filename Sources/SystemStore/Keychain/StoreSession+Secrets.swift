public import ProviderKit
internal import SQLite

/// From references to secrets and back.
extension StoreSession {
    /// The secret that a reference stands for, resolved in the host's own context: no client needs to run.
    ///
    /// - Parameters:
    ///   - reference: What a configuration refers to.
    ///   - client: The owner of the configuration.
    /// - Returns: The secret; of an identity the PKCS#12 file.
    /// - Throws: ``KeychainError``: itemNotFound for a deleted item, interactionNotAllowed while the keychain is locked,
    ///   missingEntitlement for an item of another application's group, parameter for what is no reference.
    public func secret(for reference: KeychainReference, _ client: StoreClient) throws -> SecretBytes {
        let item = try item(for: reference, client)
        return try Self.value(try open(item), of: item)
    }

    /// The PKCS#12 file that a reference to an identity stands for, with its password.
    ///
    /// - Throws: as ``secret(for:_:)`` does; noSuchClass for a reference to something else.
    public func identity(
        for reference: KeychainReference, _ client: StoreClient
    ) throws -> (pkcs12: SecretBytes, password: SecretBytes) {
        let item = try item(for: reference, client)
        guard item.itemClass == .identity else {
            throw KeychainError(.noSuchClass, cause: "The reference is to \(item.itemClass.noun), not to an identity.")
        }
        let opened = try open(item)
        guard let split = IdentitySecret.split(opened) else { throw KeychainError(.decode) }
        return split
    }

    /// Replaces the secret of a configuration's reference, and saves the configuration with the fresh reference.
    ///
    /// - Parameters:
    ///   - attributes: kSecValueData, and for an identity its password.
    ///   - property: Which reference of the configuration.
    ///   - identifier: The configuration.
    ///   - client: Its owner.
    /// - Returns: The configuration as it is saved now.
    /// - Throws: ``VPNError`` or ``KeychainError``; then neither the item nor the configuration was changed.
    public func rotate(
        _ attributes: KeychainQuery, of property: SecretProperty, in identifier: UniqueIdentifier, _ client: StoreClient
    ) throws -> VPNConfiguration {
        guard var configuration = try configuration(identifier, of: client) else { throw Self.notSaved }
        guard let stale = configuration.protocolConfiguration?[property] else {
            throw VPNError(
                .configurationInvalid, cause: "The configuration has no \(property.rawValue).",
                remedy: "Add the secret to the keychain and save its reference.")
        }
        let query: KeychainQuery = [.valuePersistentReference: .data(stale.bytes)]
        try updateItems(query, to: attributes, client)
        configuration.protocolConfiguration?[property] = try copyMatching(query, client).first?.reference
        return try save(configuration, of: client)
    }

    /// The item of a reference.
    ///
    /// Another user's item is told as one that does not exist.
    func item(for reference: KeychainReference, _ client: StoreClient) throws -> KeychainItem {
        guard let itemClass = reference.itemClass, let identifier = reference.identifier else {
            throw KeychainRule.broken(
                "\(reference.bytes.count) bytes are no persistent reference.",
                "Add the secret to the keychain and use the reference that this returns.")
        }
        let row = try database.firstRow(
            "SELECT \(KeychainItem.columns) FROM keychain_items WHERE identifier = ? AND class = ? AND user = ?",
            .blob(identifier.bytes), .text(itemClass.rawValue), .integer(Int64(client.user))
        ) { KeychainItem($0) }
        guard let item = row ?? nil else { throw KeychainError(.itemNotFound) }
        guard client.accessGroups.contains(item.accessGroup) else { throw KeychainError(.missingEntitlement) }
        return item
    }

    /// The secret of a dictionary in the form that is sealed, nil where it has none.
    ///
    /// An identity is checked, and gives the item what makes it unique.
    func secret(in attributes: KeychainQuery, for item: inout KeychainItem) throws(KeychainError) -> SecretBytes? {
        guard case .data(let bytes)? = attributes[.valueData] else {
            guard attributes[.importPassphrase] == nil else {
                throw KeychainRule.broken("kSecImportExportPassphrase stands without kSecValueData.")
            }
            return nil
        }
        guard item.itemClass == .identity else {
            guard attributes[.importPassphrase] == nil else {
                throw KeychainRule.broken("kSecImportExportPassphrase is for identities only.")
            }
            return SecretBytes(copying: bytes)
        }
        let password = attributes[.importPassphrase]?.stringValue ?? ""
        do throws(IdentityDefect) {
            let identity = try Identity.check(pkcs12: bytes, password: password)
            item.certificateKey = identity.certificateKey
            item.label = item.label ?? identity.commonName
        } catch {
            throw KeychainError(.parameter, cause: "kSecValueData: \(error.cause)", remedy: error.remedy)
        }
        return IdentitySecret.join(pkcs12: bytes, password: password)
    }

    /// Encrypts a secret into its item.
    func seal(_ secret: SecretBytes, into item: inout KeychainItem) throws(KeychainError) {
        let key = try keyRing.key(item.accessibility.keyClass)
        item.sealed = Sealing.seal(secret, key: key, context: item.context)
    }

    /// Decrypts the secret of an item.
    func open(_ item: KeychainItem) throws(KeychainError) -> SecretBytes {
        let key = try keyRing.key(item.accessibility.keyClass)
        guard let secret = Sealing.open(item.sealed, key: key, context: item.context) else {
            throw KeychainError(.decode)
        }
        return secret
    }

    /// What a client sees of an opened secret.
    static func value(_ opened: SecretBytes, of item: KeychainItem) throws(KeychainError) -> SecretBytes {
        guard item.itemClass == .identity else { return opened }
        guard let split = IdentitySecret.split(opened) else { throw KeychainError(.decode) }
        return split.pkcs12
    }
}

/// The references of a configuration by their names.
public enum SecretProperty: String, Sendable, Codable, CaseIterable {
    case passwordReference
    case identityReference
    case sharedSecretReference
}

extension ProtocolConfiguration {
    /// The reference with this name; setting one that the protocol does not have changes nothing.
    public subscript(property: SecretProperty) -> KeychainReference? {
        get {
            switch (property, self) {
            case (.passwordReference, _): common.passwordReference
            case (.identityReference, _): common.identityReference
            case (.sharedSecretReference, .ikev2(let ikev2)): ikev2.authentication.sharedSecretReference
            case (.sharedSecretReference, .ipsec(let ipsec)): ipsec.authentication.sharedSecretReference
            case (.sharedSecretReference, .tunnelProvider): nil
            }
        }
        set {
            switch (property, self) {
            case (.passwordReference, _): common.passwordReference = newValue
            case (.identityReference, _): common.identityReference = newValue
            case (.sharedSecretReference, .ikev2(var ikev2)):
                ikev2.authentication.sharedSecretReference = newValue
                self = .ikev2(ikev2)
            case (.sharedSecretReference, .ipsec(var ipsec)):
                ipsec.authentication.sharedSecretReference = newValue
                self = .ipsec(ipsec)
            case (.sharedSecretReference, .tunnelProvider): break
            }
        }
    }
}
