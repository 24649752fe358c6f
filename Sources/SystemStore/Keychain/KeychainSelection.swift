internal import ProviderKit
internal import SQLite

/// Which items a checked query means, as a condition for the database.
struct KeychainSelection {
    private(set) var conditions: [String] = []
    private(set) var values: [SQLiteValue] = []
    /// The item that a persistent reference names.
    let reference: KeychainReference?
    let itemClass: KeychainItemClass

    /// Reads a query that ``KeychainRule`` has passed.
    ///
    /// - Throws: parameter where neither class nor reference is there, or the group is not one of the client's;
    ///   noSuchClass where the class is unknown or contradicts the reference.
    init(_ query: KeychainQuery, _ client: StoreClient) throws(KeychainError) {
        if case .data(let bytes)? = query[.valuePersistentReference] {
            reference = KeychainReference(bytes)
        } else {
            reference = nil
        }
        var listed: [KeychainReference]?
        if case .array(let entries)? = query[.matchItemList] {
            listed = entries.compactMap { entry in
                guard case .data(let bytes) = entry else { return nil }
                return KeychainReference(bytes)
            }
        }
        itemClass = try Self.itemClass(query, ([reference].compactMap { $0 } + (listed ?? [])))

        add("user = ?", .integer(Int64(client.user)))
        add("class = ?", .text(itemClass.rawValue))
        if let identifier = reference?.identifier { add("identifier = ?", .blob(identifier.bytes)) }
        if let listed {
            let marks = Array(repeating: "?", count: listed.count).joined(separator: ", ")
            conditions.append("identifier IN (\(marks))")
            values += listed.map { .blob($0.identifier?.bytes ?? []) }
        }
        for (key, column) in Self.columns {
            if let text = query[key]?.stringValue { add("\(column) = ?", .text(text)) }
        }
        if case .data(let bytes)? = query[.generic] { add("generic = ?", .blob(bytes)) }
        if let group = try Self.accessGroup(query, client) {
            add("access_group = ?", .text(group))
        } else if reference == nil {
            let marks = Array(repeating: "?", count: client.accessGroups.count).joined(separator: ", ")
            conditions.append("access_group IN (\(marks))")
            values += client.accessGroups.map { .text($0) }
        }
    }

    /// The text of the condition.
    var condition: String { conditions.joined(separator: " AND ") }

    /// The group that a dictionary names, nil where it names none.
    ///
    /// - Throws: parameter for a group that the client is not in.
    static func accessGroup(_ query: KeychainQuery, _ client: StoreClient) throws(KeychainError) -> String? {
        guard let group = query[.accessGroup]?.stringValue else { return nil }
        guard client.accessGroups.contains(group) else {
            throw KeychainRule.broken(
                "kSecAttrAccessGroup names a group that the application may not use.",
                "Leave it out, or have the application entitled to the group.")
        }
        return group
    }

    /// The class of a dictionary, from itself or from a reference.
    static func itemClass(
        _ query: KeychainQuery, _ references: [KeychainReference] = []
    ) throws(KeychainError) -> KeychainItemClass {
        var found: KeychainItemClass?
        if let name = query[.itemClass]?.stringValue {
            guard let named = KeychainItemClass(rawValue: name) else { throw KeychainError(.noSuchClass) }
            found = named
        }
        for case let itemClass? in references.map(\.itemClass) {
            guard found == nil || found == itemClass else {
                throw KeychainError(
                    .noSuchClass, cause: "kSecClass contradicts the class inside a persistent reference.",
                    remedy: "Leave kSecClass out where there is a reference.")
            }
            found = itemClass
        }
        guard let found else {
            throw KeychainRule.broken("kSecClass is missing.", "Add it, or a persistent reference.")
        }
        return found
    }

    /// The columns of attributes that are text.
    static let columns: [(key: KeychainQuery.Key, column: String)] = [
        (.account, "account"), (.service, "service"), (.label, "label"), (.itemDescription, "description"),
        (.comment, "comment"), (.accessible, "accessible"),
    ]

    private mutating func add(_ condition: String, _ value: SQLiteValue) {
        conditions.append(condition)
        values.append(value)
    }
}
