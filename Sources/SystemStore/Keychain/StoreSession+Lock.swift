internal import ProviderKit

/// Locking the keychain.
extension StoreSession {
    /// Whether the keychain can be read.
    public var keychainLockState: KeychainLockState { keyRing.lockState }

    /// Opens the keychain.
    ///
    /// - Parameter passphrase: nil where it has none.
    /// - Throws: ``KeychainError``, status authenticationFailed for a wrong passphrase; the state is then as it was.
    public func unlockKeychain(_ passphrase: SecretBytes?) throws {
        try keyRing.unlock(passphrase, in: database)
    }

    /// Closes the keychain: items that are readable after the first unlock stay readable.
    public func lockKeychain() {
        keyRing.lock()
    }

    /// Sets, changes or takes away the passphrase, and opens the keychain.
    ///
    /// - Parameters:
    ///   - old: The passphrase so far, nil for none.
    ///   - new: The passphrase from now on; nil for none, which is how a server starts without a person.
    /// - Throws: ``KeychainError``, status authenticationFailed for a wrong old passphrase.
    public func changeKeychainPassphrase(from old: SecretBytes?, to new: SecretBytes?) throws {
        if let new, new.count == 0 {
            throw KeychainRule.broken("The new passphrase is empty.", "Give none to remove it.")
        }
        try keyRing.changePassphrase(from: old, to: new, in: database)
    }
}
