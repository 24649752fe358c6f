public import ProviderKit
internal import SQLite

extension StoreSession {
    /// Checks the PKCS#12 data of a configuration, and takes its password out of what is stored as text.
    ///
    /// Data that is still what was stored needs no password again: a load does not give it back.
    ///
    /// - Returns: The sealed password.
    func takeIdentity(of configuration: inout VPNConfiguration, stored: Stored?) throws -> [UInt8]? {
        guard var common = configuration.protocolConfiguration?.common else { return nil }
        defer { configuration.protocolConfiguration?.common = common }
        let password = common.identityDataPassword
        common.identityDataPassword = nil
        guard case .tunnelProvider? = configuration.protocolConfiguration else {
            guard let data = common.identityData else { return nil }
            guard let password else {
                let earlier = stored?.configuration.protocolConfiguration?.common.identityData
                guard earlier == data, let sealed = stored?.identityPassword else {
                    throw IdentityDefect.passwordMissing.error
                }
                return sealed
            }
            do throws(IdentityDefect) {
                _ = try Identity.check(pkcs12: data, password: password)
            } catch {
                throw error.error
            }
            return Sealing.seal(
                SecretBytes(password), key: try keyRing.key(.afterFirstUnlock),
                context: Self.context(configuration.identifier))
        }
        // Network Extension ignores it for tunnel providers: it is not kept where nobody can use it.
        common.identityData = nil
        return nil
    }

    /// The password of a configuration's PKCS#12 data, for the process that connects.
    ///
    /// - Returns: nil where the configuration has none.
    /// - Throws: ``KeychainError`` while it cannot be read.
    public func identityDataPassword(_ identifier: UniqueIdentifier) throws -> SecretBytes? {
        let sealed = try database.firstRow(
            "SELECT identity_password FROM configurations WHERE identifier = ?", .text(identifier.description)
        ) { $0.optionalBytes(0) }
        guard let sealed = sealed ?? nil else { return nil }
        let key = try keyRing.key(.afterFirstUnlock)
        guard let password = Sealing.open(sealed, key: key, context: Self.context(identifier)) else {
            throw KeychainError(.decode)
        }
        return password
    }

    private static func context(_ identifier: UniqueIdentifier) -> [UInt8] {
        Array("providerhost identity password 1 ".utf8) + identifier.bytes
    }
}

extension IdentityDefect {
    /// The refusal of a save.
    var error: VPNError { VPNError(.configurationInvalid, cause: "identityData: \(cause)", remedy: remedy) }
}
