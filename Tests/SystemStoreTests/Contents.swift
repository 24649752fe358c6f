import Foundation
import ProviderKit
import SQLite

/// The bytes of a file.
enum Contents {
    static func of(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }
}

/// What somebody does who may write the database but has no key.
enum Exchange {
    static func sealedValues(_ path: String, _ one: KeychainReference, _ other: KeychainReference) throws {
        let database = try Database(path: path)
        let rows = try [one, other].map { reference in
            try database.firstRow(
                "SELECT sealed FROM keychain_items WHERE identifier = ?", .optional(reference.identifier?.bytes)
            ) { $0.bytes(0) }
        }
        for (reference, sealed) in zip([other, one], rows) {
            try database.run(
                "UPDATE keychain_items SET sealed = ? WHERE identifier = ?", .optional(sealed),
                .optional(reference.identifier?.bytes))
        }
    }
}
