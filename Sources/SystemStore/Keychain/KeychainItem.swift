internal import ProviderKit
internal import SQLite

/// A row of the keychain: everything but the secret is readable without a key.
struct KeychainItem {
    static let columns =
        "identifier, class, user, access_group, account, service, certificate_key, label, description, comment,"
        + " generic, accessible, created, modified, sealed"

    let identifier: UniqueIdentifier
    let itemClass: KeychainItemClass
    let user: UInt32
    var accessGroup: String
    var account: String
    var service: String
    var certificateKey: [UInt8]
    var label: String?
    var itemDescription: String?
    var comment: String?
    var generic: [UInt8]?
    var accessibility: Accessibility
    let created: Int64
    var modified: Int64
    var sealed: [UInt8]

    /// The persistent reference.
    var reference: KeychainReference { KeychainReference(itemClass: itemClass, identifier: identifier) }

    /// What the sealed bytes are bound to: they open in this item, group and class of protection only.
    var context: [UInt8] {
        Array("providerhost keychain item 1 ".utf8) + identifier.bytes
            + Array("\(itemClass.rawValue) \(user) \(accessibility.rawValue) \(accessGroup)".utf8)
    }

    /// The attributes with their keys.
    var attributes: KeychainQuery {
        var attributes: KeychainQuery = [
            .itemClass: .string(itemClass.rawValue), .accessGroup: .string(accessGroup), .account: .string(account),
            .service: .string(service), .accessible: .string(accessibility.rawValue), .synchronizable: false,
            .creationDate: .integer(Int(created)), .modificationDate: .integer(Int(modified)),
        ]
        attributes[.label] = label.map { .string($0) }
        attributes[.itemDescription] = itemDescription.map { .string($0) }
        attributes[.comment] = comment.map { .string($0) }
        attributes[.generic] = generic.map { .data($0) }
        return attributes
    }

    /// Takes over the attributes that a checked dictionary names.
    mutating func apply(_ attributes: KeychainQuery, accessGroup group: String?) {
        account = attributes[.account]?.stringValue ?? account
        service = attributes[.service]?.stringValue ?? service
        label = attributes[.label]?.stringValue ?? label
        itemDescription = attributes[.itemDescription]?.stringValue ?? itemDescription
        comment = attributes[.comment]?.stringValue ?? comment
        if case .data(let bytes)? = attributes[.generic] { generic = bytes }
        accessibility = attributes[.accessible]?.stringValue.flatMap(Accessibility.init) ?? accessibility
        accessGroup = group ?? accessGroup
    }
}

extension KeychainItem {
    /// Reads a row of ``columns``; nil where it was written by something else.
    init?(_ row: borrowing Statement) {
        guard let identifier = UniqueIdentifier(bytes: row.bytes(0)),
            let itemClass = KeychainItemClass(rawValue: row.text(1)),
            let accessibility = Accessibility(rawValue: row.text(11))
        else { return nil }
        self.init(
            identifier: identifier, itemClass: itemClass, user: UInt32(truncatingIfNeeded: row.integer(2)),
            accessGroup: row.text(3), account: row.text(4), service: row.text(5), certificateKey: row.bytes(6),
            label: row.optionalText(7), itemDescription: row.optionalText(8), comment: row.optionalText(9),
            generic: row.optionalBytes(10), accessibility: accessibility, created: row.integer(12),
            modified: row.integer(13), sealed: row.bytes(14))
    }

    /// The values of ``columns``.
    var values: [SQLiteValue] {
        [
            .blob(identifier.bytes), .text(itemClass.rawValue), .integer(Int64(user)), .text(accessGroup),
            .text(account), .text(service), .blob(certificateKey), .optional(label), .optional(itemDescription),
            .optional(comment), .optional(generic), .text(accessibility.rawValue), .integer(created),
            .integer(modified), .blob(sealed),
        ]
    }
}
