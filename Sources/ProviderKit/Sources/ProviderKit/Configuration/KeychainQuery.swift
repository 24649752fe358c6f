/// A query or a set of attributes with the Security framework's keys; its text never shows any of it.
public struct KeychainQuery: Sendable, Equatable {
    /// The entries by key.
    @Redacted public var values: [Key: PropertyListValue] = [:]

    /// Makes a query from its entries.
    public init(_ values: [Key: PropertyListValue] = [:]) {
        self.values = values
    }

    public subscript(key: Key) -> PropertyListValue? {
        get { values[key] }
        set { values[key] = newValue }
    }

    /// A key with the Security framework's value.
    public struct Key: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        /// Wraps any text: what is no key is refused when the query is made.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        private init(_ rawValue: String) { self.rawValue = rawValue }

        /// kSecClass: "genp" or "idnt".
        public static let itemClass = Key("class")
        /// kSecAttrAccount.
        public static let account = Key("acct")
        /// kSecAttrService.
        public static let service = Key("svce")
        /// kSecAttrLabel.
        public static let label = Key("labl")
        /// kSecAttrDescription.
        public static let itemDescription = Key("desc")
        /// kSecAttrComment.
        public static let comment = Key("icmt")
        /// kSecAttrGeneric.
        public static let generic = Key("gena")
        /// kSecAttrAccessible: "ck", "cku", "ak" or "aku".
        public static let accessible = Key("pdmn")
        /// kSecAttrAccessGroup.
        public static let accessGroup = Key("agrp")
        /// kSecAttrSynchronizable: false only.
        public static let synchronizable = Key("sync")
        /// kSecAttrCreationDate, in seconds since 1970.
        public static let creationDate = Key("cdat")
        /// kSecAttrModificationDate, in seconds since 1970.
        public static let modificationDate = Key("mdat")
        /// kSecValueData.
        public static let valueData = Key("v_Data")
        /// kSecValueRef; there are no such objects here.
        public static let valueReference = Key("v_Ref")
        /// kSecValuePersistentRef.
        public static let valuePersistentReference = Key("v_PersistentRef")
        /// kSecReturnData.
        public static let returnData = Key("r_Data")
        /// kSecReturnAttributes.
        public static let returnAttributes = Key("r_Attributes")
        /// kSecReturnRef; there are no such objects here.
        public static let returnReference = Key("r_Ref")
        /// kSecReturnPersistentRef.
        public static let returnPersistentReference = Key("r_PersistentRef")
        /// kSecMatchLimit: "m_LimitOne", "m_LimitAll" or a number.
        public static let matchLimit = Key("m_Limit")
        /// kSecMatchItemList: persistent references.
        public static let matchItemList = Key("m_ItemList")
        /// kSecUseDataProtectionKeychain: true only.
        public static let useDataProtectionKeychain = Key("nleg")
        /// The password of the PKCS#12 file in kSecValueData, for an identity (kSecImportExportPassphrase).
        public static let importPassphrase = Key("passphrase")
    }
}

extension KeychainQuery: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (Key, PropertyListValue)...) {
        self.init(Dictionary(elements) { _, last in last })
    }
}

extension KeychainQuery: Codable {
    public init(from decoder: any Decoder) throws {
        let values = try decoder.singleValueContainer().decode([String: PropertyListValue].self)
        self.init(Dictionary(uniqueKeysWithValues: values.map { (Key(rawValue: $0), $1) }))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Dictionary(uniqueKeysWithValues: values.map { ($0.rawValue, $1) }))
    }
}
