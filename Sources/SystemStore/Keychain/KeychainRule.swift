internal import ProviderKit

/// Which entries a call takes, and what they may hold: the Security framework's rules as one table.
struct KeychainRule {
    /// The dictionaries that the four calls take.
    enum Place: String {
        case add = "SecItemAdd"
        case match = "SecItemCopyMatching"
        case updateQuery = "the query of SecItemUpdate"
        case updateAttributes = "the attributes of SecItemUpdate"
        case delete = "SecItemDelete"
    }

    /// What an entry may hold.
    enum Kind: String {
        case text = "text"
        case bytes = "bytes"
        case boolean = "true or false"
        case reference = "a persistent reference"
        case references = "a list of persistent references"
        case limit = "m_LimitOne, m_LimitAll or a number above 0"
    }

    /// The name that developers know the key by.
    let name: String
    let kind: Kind
    let places: Set<Place>

    private static let everywhere: Set<Place> = [.add, .match, .updateQuery, .updateAttributes, .delete]
    private static let queries: Set<Place> = [.match, .updateQuery, .delete]

    private static let table: [KeychainQuery.Key: KeychainRule] = [
        .itemClass: KeychainRule("kSecClass", .text, queries.union([.add])),
        .account: KeychainRule("kSecAttrAccount", .text, everywhere),
        .service: KeychainRule("kSecAttrService", .text, everywhere),
        .label: KeychainRule("kSecAttrLabel", .text, everywhere),
        .itemDescription: KeychainRule("kSecAttrDescription", .text, everywhere),
        .comment: KeychainRule("kSecAttrComment", .text, everywhere),
        .generic: KeychainRule("kSecAttrGeneric", .bytes, everywhere),
        .accessible: KeychainRule("kSecAttrAccessible", .text, everywhere),
        .accessGroup: KeychainRule("kSecAttrAccessGroup", .text, everywhere),
        .synchronizable: KeychainRule("kSecAttrSynchronizable", .boolean, everywhere),
        .valueData: KeychainRule("kSecValueData", .bytes, [.add, .updateAttributes]),
        .importPassphrase: KeychainRule("kSecImportExportPassphrase", .text, [.add, .updateAttributes]),
        .valuePersistentReference: KeychainRule("kSecValuePersistentRef", .reference, queries),
        .returnData: KeychainRule("kSecReturnData", .boolean, [.add, .match]),
        .returnAttributes: KeychainRule("kSecReturnAttributes", .boolean, [.add, .match]),
        .returnPersistentReference: KeychainRule("kSecReturnPersistentRef", .boolean, [.add, .match]),
        .matchLimit: KeychainRule("kSecMatchLimit", .limit, [.match]),
        .matchItemList: KeychainRule("kSecMatchItemList", .references, [.match]),
        .useDataProtectionKeychain: KeychainRule("kSecUseDataProtectionKeychain", .boolean, queries.union([.add])),
        .valueReference: KeychainRule("kSecValueRef", .bytes, []),
        .returnReference: KeychainRule("kSecReturnRef", .boolean, []),
    ]

    private init(_ name: String, _ kind: Kind, _ places: Set<Place>) {
        self.name = name
        self.kind = kind
        self.places = places
    }

    /// Throws the first rule that a dictionary breaks; the text names keys and never values.
    static func check(_ query: KeychainQuery, in place: Place) throws(KeychainError) {
        if query[.valueData] != nil, query[.valuePersistentReference] != nil {
            throw broken(
                "kSecValueData and kSecValuePersistentRef stand in one query: a reference and data are mixed up.")
        }
        // In the order of the keys, so that one query always gives the same answer.
        for (key, value) in query.values.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            guard let rule = table[key] else { throw broken("The query has an unknown key.") }
            guard rule.places.contains(place) else {
                throw rule.places.isEmpty
                    ? broken("\(rule.name) is not supported: there are no item objects.", "Use a persistent reference.")
                    : broken("\(rule.name) is not allowed in \(place.rawValue).")
            }
            guard rule.accepts(value) else { throw broken(rule.refusal(of: value)) }
        }
        if query[.synchronizable]?.booleanValue == true {
            throw broken("kSecAttrSynchronizable is true: items do not leave this machine.")
        }
        if query[.useDataProtectionKeychain]?.booleanValue == false {
            throw broken("kSecUseDataProtectionKeychain is false: there is no other keychain.")
        }
        if let accessible = query[.accessible]?.stringValue, Accessibility(rawValue: accessible) == nil {
            throw broken(
                "kSecAttrAccessible has no such class.", "Use \"ck\" (after first unlock) or \"ak\" (when unlocked).")
        }
    }

    /// A broken rule.
    static func broken(_ cause: String, _ remedy: String? = nil) -> KeychainError {
        KeychainError(.parameter, cause: cause, remedy: remedy)
    }

    private func accepts(_ value: PropertyListValue) -> Bool {
        switch (kind, value) {
        case (.text, .string), (.bytes, .data), (.boolean, .boolean): true
        case (.reference, .data(let bytes)): KeychainReference(bytes).itemClass != nil
        case (.references, .array(let values)):
            values.allSatisfy { value in
                guard case .data(let bytes) = value else { return false }
                return KeychainReference(bytes).itemClass != nil
            }
        case (.limit, .string(let text)): text == "m_LimitOne" || text == "m_LimitAll"
        case (.limit, .integer(let number)): number > 0
        default: false
        }
    }

    private func refusal(of value: PropertyListValue) -> String {
        guard kind == .reference, case .data(let bytes) = value else { return "\(name) is not \(kind.rawValue)." }
        return "\(name) holds \(bytes.count) bytes that are no persistent reference: raw data was assigned."
    }
}
