import ProviderKit
import SystemStore
import Testing

/// The -50 cases and their neighbours: each says which rule was broken.
@Suite struct KeychainRuleTests {
    /// A call, what the status is, and a word of the cause.
    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let status: KeychainStatus
        let word: String
        let call: @Sendable (StoreSession, KeychainReference) throws -> Void

        init(
            _ name: String, _ word: String, status: KeychainStatus = .parameter,
            _ call: @escaping @Sendable (StoreSession, KeychainReference) throws -> Void
        ) {
            self.name = name
            self.status = status
            self.word = word
            self.call = call
        }

        var testDescription: String { name }
    }

    private static func add(_ change: @escaping @Sendable (inout KeychainQuery) -> Void)
        -> @Sendable (StoreSession, KeychainReference) throws -> Void
    {
        { session, _ in
            var query = KeychainQuery.password(account: "another")
            change(&query)
            _ = try session.addItem(query, .office)
        }
    }

    private static func find(_ query: KeychainQuery) -> @Sendable (StoreSession, KeychainReference) throws -> Void {
        { session, _ in _ = try session.copyMatching(query, .office) }
    }

    private static let raw: PropertyListValue = .data(Array("my password".utf8))
    private static let identity = KeychainReference(itemClass: .identity, identifier: UniqueIdentifier())

    static let cases: [Case] = [
        Case("add without class", "kSecClass is missing", add { $0[.itemClass] = nil }),
        Case("add without data", "kSecValueData is missing", add { $0[.valueData] = nil }),
        Case("text as data", "kSecValueData is not bytes", add { $0[.valueData] = "secret" }),
        Case("number as account", "kSecAttrAccount is not text", add { $0[.account] = 7 }),
        Case("unknown key", "unknown key", add { $0[KeychainQuery.Key(rawValue: "acc0unt")] = "x" }),
        Case("unknown class", "no such class", status: .noSuchClass, add { $0[.itemClass] = "genq" }),
        Case("internet password", "no such class", status: .noSuchClass, add { $0[.itemClass] = "inet" }),
        Case("reference and data", "mixed up", add { $0[.valuePersistentReference] = .data(identity.bytes) }),
        Case(
            "reference in add", "kSecValuePersistentRef is not allowed in SecItemAdd",
            add {
                $0[.valueData] = nil
                $0[.valuePersistentReference] = .data(identity.bytes)
            }),
        Case("limit in add", "kSecMatchLimit is not allowed in SecItemAdd", add { $0[.matchLimit] = "m_LimitOne" }),
        Case("foreign group in add", "kSecAttrAccessGroup names a group", add { $0[.accessGroup] = "group.foreign" }),
        Case("synchronizable", "kSecAttrSynchronizable is true", add { $0[.synchronizable] = true }),
        Case("other keychain", "kSecUseDataProtectionKeychain", add { $0[.useDataProtectionKeychain] = false }),
        Case("always accessible", "kSecAttrAccessible has no such class", add { $0[.accessible] = "dk" }),
        Case("object reference", "kSecReturnRef is not supported", add { $0[.returnReference] = true }),
        Case("value object", "kSecValueRef is not supported", add { $0[.valueReference] = raw }),
        Case("passphrase of a password", "identities only", add { $0[.importPassphrase] = "x" }),
        Case(
            "identity that is none", "no PKCS#12",
            add {
                $0[.itemClass] = "idnt"
                $0[.importPassphrase] = "x"
            }),
        Case(
            "identity without its password", "password of the PKCS#12 file is missing", add { $0[.itemClass] = "idnt" }),

        Case("empty query", "kSecClass is missing", find([:])),
        Case("raw bytes as reference", "raw data was assigned", find([.valuePersistentReference: raw])),
        Case("text as reference", "kSecValuePersistentRef is not", find([.valuePersistentReference: "genp"])),
        Case("raw bytes in a list", "kSecMatchItemList is not", find([.matchItemList: .array([raw])])),
        Case("data in a query", "kSecValueData is not allowed", find([.itemClass: "genp", .valueData: raw])),
        Case(
            "class against reference", "contradicts", status: .noSuchClass,
            find([.itemClass: "genp", .valuePersistentReference: .data(identity.bytes)])),
        Case(
            "classes in a list", "contradicts", status: .noSuchClass,
            { session, reference in
                let list: PropertyListValue = .array([.data(reference.bytes), .data(identity.bytes)])
                _ = try session.copyMatching([.matchItemList: list], .office)
            }),
        Case(
            "data of all", "kSecReturnData with a kSecMatchLimit above one",
            find([.itemClass: "genp", .matchLimit: "m_LimitAll", .returnData: true])),
        Case("limit of none", "kSecMatchLimit is not", find([.itemClass: "genp", .matchLimit: 0])),
        Case("limit of another name", "kSecMatchLimit is not", find([.itemClass: "genp", .matchLimit: "all"])),
        Case(
            "foreign group", "kSecAttrAccessGroup names a group",
            find([.itemClass: "genp", .accessGroup: "com.example.home"])),
        Case("dates are not asked for", "unknown key", find([.itemClass: "genp", .creationDate: 1])),

        Case(
            "return key in update", "kSecReturnData is not allowed in the query of SecItemUpdate",
            { session, _ in
                try session.updateItems([.itemClass: "genp", .returnData: true], to: [.label: "x"], .office)
            }),
        Case(
            "class in attributes", "kSecClass is not allowed in the attributes",
            { session, reference in
                try session.updateItems(.item(reference), to: [.itemClass: "idnt"], .office)
            }),
        Case(
            "nothing to update", "nothing to update",
            { session, reference in
                try session.updateItems(.item(reference), to: [:], .office)
            }),
        Case(
            "reference in attributes", "kSecValuePersistentRef is not allowed in the attributes",
            { session, reference in
                try session.updateItems(.item(reference), to: .item(reference), .office)
            }),
        Case(
            "limit in delete", "kSecMatchLimit is not allowed in SecItemDelete",
            { session, _ in
                try session.deleteItems([.itemClass: "genp", .matchLimit: "m_LimitAll"], .office)
            }),
        Case(
            "list in delete", "kSecMatchItemList is not allowed in SecItemDelete",
            { session, reference in
                try session.deleteItems([.matchItemList: .array([.data(reference.bytes)])], .office)
            }),
    ]

    @Test(arguments: cases)
    func aBrokenRuleIsNamed(_ rule: Case) throws {
        let scratch = Scratch()
        let store = try scratch.open()
        let reference = try store.performOnKeychain { try $0.addItem(.password(), .office).reference }
        let error = try #require(throws: KeychainError.self) {
            try store.performOnKeychain { try rule.call($0, reference) }
        }
        #expect(error.code == rule.status && error.cause.contains(rule.word), "\(error)")
        #expect(rule.status != .parameter || error.errorCode == -50)
        #expect(!error.remedy.isEmpty && error.errorDomain == "NSOSStatusErrorDomain")
        // Nothing has changed.
        let count = try store.read {
            try $0.copyMatching([.itemClass: "genp", .matchLimit: "m_LimitAll"], .office).count
        }
        #expect(count == 1)
        #expect(try store.read { try $0.secret(for: reference, .office).text } == "s3cret")
    }
}
