public import ProviderKit

/// The grammar of names in the registry.
public enum RegistryName {
    /// Refuses what cannot name a peer or a group.
    ///
    /// - Throws: ``RegistryErrorCode/invalidName``.
    public static func check(_ name: String, of what: String) throws(RegistryError) {
        let bytes = name.utf8
        guard (1...63).contains(bytes.count), let first = bytes.first, isAlphanumeric(first),
            bytes.allSatisfy({ isAlphanumeric($0) || ".-_".utf8.contains($0) })
        else { throw RegistryError(.invalidName, cause: "`\(name.excerpt)` cannot name a \(what).") }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        byte >= 48 && byte <= 57 || byte | 32 >= 97 && byte | 32 <= 122
    }
}
