internal import ProviderKit
internal import SQLite

/// The keys of the two protection classes, as far as they are unlocked.
///
/// ```
/// device key (file, 0600) ──┬─────────────────── wraps the class keys where there is no passphrase
/// passphrase ── Argon2id ───┘ both together wrap them where there is one
/// ```
struct KeyRing {
    private let deviceKey: SecretBytes?
    private var keys: [KeyClass: SecretBytes] = [:]

    /// Takes the machine's key, nil where it cannot be read.
    init(deviceKey: SecretBytes?) {
        self.deviceKey = deviceKey
    }

    /// The state as the command line shows it.
    var lockState: KeychainLockState {
        if deviceKey == nil { return .unavailable }
        if keys[.whenUnlocked] != nil { return .unlocked }
        return keys[.afterFirstUnlock] != nil ? .locked : .neverUnlocked
    }

    /// The key of a class.
    ///
    /// - Throws: interactionNotAllowed while it is locked.
    func key(_ keyClass: KeyClass) throws(KeychainError) -> SecretBytes {
        if let key = keys[keyClass] { return key }
        guard deviceKey != nil else { throw Self.missingDeviceKey }
        throw KeychainError(
            .interactionNotAllowed,
            cause: keyClass == .whenUnlocked
                ? "The keychain is locked, and the item can be read while it is unlocked only (when-unlocked)."
                : "The keychain was not unlocked yet since the manager started.")
    }

    /// Forgets the key of the items that are readable while unlocked only.
    mutating func lock() {
        keys[.whenUnlocked] = nil
    }

    /// Makes the two keys of a new store, not protected by a passphrase.
    func create(in database: borrowing Database) throws {
        guard let deviceKey else { throw Self.missingDeviceKey }
        for keyClass in KeyClass.allCases {
            let key = SecretBytes(randomCount: Sealing.keyLength)
            try store(key, keyClass, wrappedBy: deviceKey, nil, in: database)
        }
    }

    /// Opens both keys.
    ///
    /// - Parameters:
    ///   - passphrase: nil where the store has none.
    ///   - database: The store.
    /// - Throws: authenticationFailed for a wrong passphrase or none where one is needed.
    mutating func unlock(_ passphrase: SecretBytes?, in database: borrowing Database) throws {
        keys = try open(passphrase, in: database)
    }

    /// Wraps both keys anew.
    ///
    /// - Parameters:
    ///   - old: The passphrase so far, nil for none.
    ///   - new: The passphrase from now on, nil for none.
    ///   - database: The store.
    /// - Throws: authenticationFailed for a wrong passphrase.
    mutating func changePassphrase(
        from old: SecretBytes?, to new: SecretBytes?, in database: borrowing Database
    ) throws {
        let opened = try open(old, in: database)
        let parameters = new == nil ? nil : PassphraseParameters.new()
        let wrapping = try wrappingKey(new, parameters)
        for (keyClass, key) in opened { try store(key, keyClass, wrappedBy: wrapping, parameters, in: database) }
        keys = opened
    }

    private func open(
        _ passphrase: SecretBytes?, in database: borrowing Database
    ) throws -> [KeyClass: SecretBytes] {
        let rows = try database.rows("SELECT class, wrapped, salt, operations, memory FROM class_keys") { row in
            let parameters = row.optionalBytes(2).map {
                PassphraseParameters(
                    salt: $0, operations: UInt64(clamping: row.integer(3)), memoryBytes: Int(row.integer(4)))
            }
            return (name: row.text(0), wrapped: row.bytes(1), parameters: parameters)
        }
        var opened: [KeyClass: SecretBytes] = [:]
        var wrapping: (parameters: PassphraseParameters?, key: SecretBytes)?
        for row in rows {
            guard let keyClass = KeyClass(rawValue: row.name) else { continue }
            // Both rows have the same parameters: the passphrase is stretched once.
            if wrapping == nil || wrapping?.parameters != row.parameters {
                wrapping = (row.parameters, try wrappingKey(passphrase, row.parameters))
            }
            guard let key = wrapping?.key,
                let opens = Sealing.open(row.wrapped, key: key, context: Self.context(keyClass))
            else {
                throw row.parameters == nil ? Self.foreignDeviceKey : KeychainError(.authenticationFailed)
            }
            opened[keyClass] = opens
        }
        guard opened.count == KeyClass.allCases.count else { throw Self.foreignDeviceKey }
        return opened
    }

    private func wrappingKey(
        _ passphrase: SecretBytes?, _ parameters: PassphraseParameters?
    ) throws(KeychainError) -> SecretBytes {
        guard let deviceKey else { throw Self.missingDeviceKey }
        guard let parameters else { return deviceKey }
        guard let passphrase else {
            throw KeychainError(.authenticationFailed, cause: "The keychain has a passphrase, and none was given.")
        }
        guard let stretched = Sealing.stretch(passphrase, parameters) else {
            throw KeychainError(
                .notAvailable, cause: "There is not enough memory to check the passphrase.",
                remedy: "Free \(parameters.memoryBytes >> 20) MiB and try again.")
        }
        return Sealing.derive(key: deviceKey, message: stretched)
    }

    private func store(
        _ key: SecretBytes, _ keyClass: KeyClass, wrappedBy wrapping: SecretBytes, _ parameters: PassphraseParameters?,
        in database: borrowing Database
    ) throws(SQLiteError) {
        try database.run(
            "INSERT OR REPLACE INTO class_keys (class, wrapped, salt, operations, memory) VALUES (?, ?, ?, ?, ?)",
            .text(keyClass.rawValue),
            .blob(Sealing.seal(key, key: wrapping, context: Self.context(keyClass))),
            .optional(parameters?.salt), .optional(parameters.map { Int64(clamping: $0.operations) }),
            .optional(parameters.map { Int64($0.memoryBytes) }))
    }

    private static func context(_ keyClass: KeyClass) -> [UInt8] {
        Array("providerhost class key 1 \(keyClass.rawValue)".utf8)
    }

    private static let missingDeviceKey = KeychainError(
        .notAvailable, cause: "The keychain's device key is missing or cannot be read.",
        remedy: "Restore device.key beside the store; without it the secrets are lost and must be added again.")

    private static let foreignDeviceKey = KeychainError(
        .notAvailable, cause: "The keychain's device key does not fit the store.",
        remedy: "Restore the device.key that belongs to this store.")
}

/// Whether the keychain can be read.
public enum KeychainLockState: String, Sendable, Codable {
    /// Everything can be read.
    case unlocked
    /// Items that are readable after the first unlock can be read.
    case locked
    /// Nothing can be read yet.
    case neverUnlocked
    /// The key of the machine is missing, so nothing can be read.
    case unavailable
}
