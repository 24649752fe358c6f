/// A persistent reference to a keychain item: four bytes for the class of the item, then the 16 bytes of its UUID.
///
/// Any bytes can be put into one, as into Network Extension's `Data`; a save refuses what is no reference. Its text never
/// shows the bytes, because references belong in no log.
public struct KeychainReference: Hashable, Sendable {
    /// The reference as it is stored and passed on.
    public let bytes: [UInt8]

    /// Wraps bytes that may or may not be a reference.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Makes the reference to an item.
    public init(itemClass: KeychainItemClass, identifier: UniqueIdentifier) {
        bytes = Array(itemClass.rawValue.utf8) + identifier.bytes
    }

    /// The class of the item, nil where the bytes are no reference.
    public var itemClass: KeychainItemClass? { parts?.itemClass }

    /// The identifier of the item, nil where the bytes are no reference.
    public var identifier: UniqueIdentifier? { parts?.identifier }

    private var parts: (itemClass: KeychainItemClass, identifier: UniqueIdentifier)? {
        guard bytes.count == 20,
            let itemClass = KeychainItemClass(rawValue: String(decoding: bytes.prefix(4), as: UTF8.self)),
            let identifier = UniqueIdentifier(bytes: bytes.suffix(16))
        else { return nil }
        return (itemClass, identifier)
    }
}

/// The classes of keychain items that a configuration refers to, with the Security framework's values.
public enum KeychainItemClass: String, Sendable, Codable, CaseIterable {
    /// A password or another secret (kSecClassGenericPassword).
    case genericPassword = "genp"
    /// A certificate with its private key (kSecClassIdentity).
    case identity = "idnt"
}

extension KeychainReference: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(keychain reference)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension KeychainReference: Codable {
    /// Reads pairs of hexadecimal digits.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let bytes = [UInt8](hexadecimal: Array(try container.decode(String.self).utf8)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not hexadecimal")
        }
        self.init(bytes)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(bytes.hexadecimal)
    }
}
