public import ProviderKit
internal import SQLite

/// The four calls of the Security framework, with its keys, rules and statuses.
extension StoreSession {
    /// Adds an item (SecItemAdd).
    ///
    /// An identity is a PKCS#12 file in kSecValueData with its password in kSecImportExportPassphrase.
    ///
    /// - Returns: The item: its reference, and attributes or data where the query asks for them.
    /// - Throws: ``KeychainError``.
    @discardableResult
    public func addItem(_ query: KeychainQuery, _ client: StoreClient) throws -> KeychainMatch {
        try KeychainRule.check(query, in: .add)
        let itemClass = try KeychainSelection.itemClass(query)
        let identifier = UniqueIdentifier()
        var item = KeychainItem(
            identifier: identifier, itemClass: itemClass, user: client.user, accessGroup: client.accessGroups[0],
            account: "", service: "", certificateKey: [], accessibility: .whenUnlocked, created: now, modified: now,
            sealed: [])
        item.apply(query, accessGroup: try KeychainSelection.accessGroup(query, client))
        guard let secret = try secret(in: query, for: &item) else {
            throw KeychainRule.broken("kSecValueData is missing.", "Add the secret.")
        }
        try seal(secret, into: &item)
        let marks = Array(repeating: "?", count: item.values.count).joined(separator: ", ")
        try refusingDuplicates { () throws(SQLiteError) in
            try database.run(
                "INSERT INTO keychain_items (\(KeychainItem.columns)) VALUES (\(marks))", values: item.values)
        }
        try count(.keychain)
        return try match(item, query)
    }

    /// Finds items (SecItemCopyMatching).
    ///
    /// - Returns: The items, with what the query asks for; one, unless the limit says otherwise.
    /// - Throws: ``KeychainError``; itemNotFound where nothing matches.
    public func copyMatching(_ query: KeychainQuery, _ client: StoreClient) throws -> [KeychainMatch] {
        try KeychainRule.check(query, in: .match)
        let limit: Int
        switch query[.matchLimit] {
        case .string("m_LimitAll")?: limit = .max
        case .integer(let number)?: limit = number
        default: limit = 1
        }
        if limit > 1, query[.returnData]?.booleanValue == true {
            throw KeychainRule.broken(
                "kSecReturnData with a kSecMatchLimit above one is not allowed for secrets.",
                "Ask for kSecReturnPersistentRef, then for the data of one item.")
        }
        return try items(query, client, limit: limit).map { try match($0, query) }
    }

    /// Changes all items that a query means (SecItemUpdate); their references stay valid.
    ///
    /// - Throws: ``KeychainError``; itemNotFound where nothing matches. Then no item was changed.
    public func updateItems(_ query: KeychainQuery, to attributes: KeychainQuery, _ client: StoreClient) throws {
        try KeychainRule.check(query, in: .updateQuery)
        try KeychainRule.check(attributes, in: .updateAttributes)
        guard !attributes.values.isEmpty else { throw KeychainRule.broken("There is nothing to update.") }
        let group = try KeychainSelection.accessGroup(attributes, client)
        let assignments = KeychainItem.columns.split(separator: ", ").map { "\($0) = ?" }.joined(separator: ", ")
        for var item in try items(query, client, limit: .max) {
            let before = item
            item.apply(attributes, accessGroup: group)
            item.modified = now
            if let secret = try secret(in: attributes, for: &item) {
                try seal(secret, into: &item)
            } else if item.context != before.context {
                try seal(try open(before), into: &item)
            }
            try refusingDuplicates { () throws(SQLiteError) in
                try database.run(
                    "UPDATE keychain_items SET \(assignments) WHERE identifier = ?",
                    values: item.values + [.blob(item.identifier.bytes)])
            }
        }
        try count(.keychain)
    }

    /// Deletes all items that a query means (SecItemDelete); references to them dangle from then on.
    ///
    /// - Throws: ``KeychainError``; itemNotFound where nothing matches.
    public func deleteItems(_ query: KeychainQuery, _ client: StoreClient) throws {
        try KeychainRule.check(query, in: .delete)
        for item in try items(query, client, limit: .max) {
            try database.run("DELETE FROM keychain_items WHERE identifier = ?", .blob(item.identifier.bytes))
        }
        try count(.keychain)
    }

    private func items(_ query: KeychainQuery, _ client: StoreClient, limit: Int) throws -> [KeychainItem] {
        let selection = try KeychainSelection(query, client)
        if let reference = selection.reference { _ = try item(for: reference, client) }
        let items = try database.rows(
            "SELECT \(KeychainItem.columns) FROM keychain_items WHERE \(selection.condition) ORDER BY sequence LIMIT ?",
            values: selection.values + [.integer(Int64(limit))]
        ) { KeychainItem($0) }.compactMap { $0 }
        guard !items.isEmpty else { throw KeychainError(.itemNotFound, cause: "No keychain item matches the query.") }
        return items
    }

    private func match(_ item: KeychainItem, _ query: KeychainQuery) throws -> KeychainMatch {
        KeychainMatch(
            reference: item.reference,
            attributes: query[.returnAttributes]?.booleanValue == true ? item.attributes : nil,
            data: query[.returnData]?.booleanValue == true ? try Self.value(try open(item), of: item) : nil)
    }

    private func refusingDuplicates(_ body: () throws(SQLiteError) -> Int) throws {
        do throws(SQLiteError) {
            _ = try body()
        } catch {
            guard error.isDuplicate else { throw error }
            throw KeychainError(.duplicateItem)
        }
    }
}

/// An item that a call found or made.
public struct KeychainMatch: Sendable {
    /// The persistent reference, which may be stored and passed on.
    public let reference: KeychainReference
    /// The attributes, where they were asked for.
    public let attributes: KeychainQuery?
    /// The secret, where it was asked for: of an identity the PKCS#12 file.
    public let data: SecretBytes?
}
