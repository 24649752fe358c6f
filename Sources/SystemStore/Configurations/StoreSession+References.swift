internal import ProviderKit

extension ProtocolConfiguration {
    /// The references of a configuration: the property, what it holds, and the class that it must have.
    var references: [(property: String, reference: KeychainReference, itemClass: KeychainItemClass)] {
        let sharedSecret: KeychainReference?
        let postQuantumKey: KeychainReference?
        switch self {
        case .tunnelProvider: (sharedSecret, postQuantumKey) = (nil, nil)
        case .ipsec(let ipsec): (sharedSecret, postQuantumKey) = (ipsec.authentication.sharedSecretReference, nil)
        case .ikev2(let ikev2):
            sharedSecret = ikev2.authentication.sharedSecretReference
            postQuantumKey = ikev2.ppkConfiguration?.keychainReference
        }
        let all: [(String, KeychainReference?, KeychainItemClass)] = [
            ("passwordReference", common.passwordReference, .genericPassword),
            ("identityReference", common.identityReference, .identity),
            ("sharedSecretReference", sharedSecret, .genericPassword),
            ("ppkConfiguration.keychainReference", postQuantumKey, .genericPassword),
        ]
        return all.compactMap { property, reference, itemClass in reference.map { (property, $0, itemClass) } }
    }
}

extension StoreSession {
    /// Refuses what is no reference, and a new reference that the client could not use.
    ///
    /// A reference that was stored before is not looked up again: that its item was deleted must not keep the owner from
    /// saving the rest. The next start tells it.
    func checkReferences(
        of configuration: VPNConfiguration, since stored: VPNConfiguration?, _ client: StoreClient
    ) throws {
        guard let object = configuration.protocolConfiguration else { return }
        let earlier = Set(stored?.protocolConfiguration?.references.map(\.reference) ?? [])
        for (property, reference, itemClass) in object.references {
            guard let actualClass = reference.itemClass else {
                throw KeychainError(
                    .parameter,
                    cause: "\(property) holds \(reference.bytes.count) bytes that are no persistent reference.",
                    remedy: "Add the secret to the keychain and assign the reference that this returns.")
            }
            guard actualClass == itemClass else {
                throw KeychainError(
                    .parameter,
                    cause: "\(property) refers to \(actualClass.noun), not to \(itemClass.noun).",
                    remedy: "Assign a reference to \(itemClass.noun).")
            }
            if !earlier.contains(reference) { _ = try item(for: reference, client) }
        }
        let passwords = object.references.filter { $0.itemClass == .genericPassword }
        guard Set(passwords.map(\.reference)).count == passwords.count else {
            throw KeychainError(
                .parameter,
                cause: "\(passwords.map(\.property).joined(separator: " and ")) refer to the same item.",
                remedy: "Add one item for each of them, so that one can be rotated without the other.")
        }
    }
}

extension KeychainItemClass {
    /// The class in a sentence.
    var noun: String {
        switch self {
        case .genericPassword: "a generic password"
        case .identity: "an identity"
        }
    }
}
