public import ProviderKit
internal import SQLite
public import WireGuard

/// The registry of a gateway in its file: `gateway.sqlite` in the state folder, for its owner alone.
///
/// Operators change it through the verbs of the program while the gateway runs; each change is one transaction, and the gateway
/// sees by ``dataVersion`` that there was one. A value of the type belongs to one thread at a time.
public struct Registry: ~Copyable {
    /// The name of the file.
    public static let fileName = "gateway.sqlite"

    let database: Database

    /// Makes the registry of a new gateway, and the state folder where it is missing.
    ///
    /// - Throws: ``RegistryErrorCode/alreadyInitialized`` or ``RegistryErrorCode/unusableFile``.
    public static func create(in folder: String, _ contents: RegistryContents) throws(RegistryError) {
        try StateFolder.make(folder)
        try guarded {
            let database = try Database(path: path(in: folder))
            try database.transaction {
                guard try database.userVersion == 0 else {
                    throw RegistryError(
                        .alreadyInitialized, cause: "There is a gateway in \(path(in: folder)) already.")
                }
                try database.execute(RegistryTable.schema)
                try database.setUserVersion(RegistryTable.schemaVersion)
                var complete = contents
                try complete.refreshVersions()
                try database.write(complete)
            }
        }
    }

    /// Opens the registry of a folder.
    ///
    /// - Throws: ``RegistryErrorCode/notInitialized`` or ``RegistryErrorCode/unusableFile``.
    public init(folder: String) throws(RegistryError) {
        database = try guarded { try Self.open(Self.path(in: folder)) }
    }

    private static func open(_ path: String) throws -> Database {
        guard StateFolder.exists(path) else {
            throw RegistryError(.notInitialized, cause: "There is no gateway: \(path) is missing.")
        }
        let database = try Database(path: path, options: DatabaseOptions(access: .readWrite))
        let version = try database.userVersion
        guard version == RegistryTable.schemaVersion else {
            throw RegistryError(
                .unusableFile,
                cause: "\(path) has schema \(version), this program knows \(RegistryTable.schemaVersion).",
                remedy: "Use the version of the program that made it.")
        }
        return database
    }

    /// Everything that decides what the gateway does.
    ///
    /// - Throws: ``RegistryErrorCode/unusableFile``.
    public func contents() throws(RegistryError) -> RegistryContents {
        try guarded { try database.readContents() }
    }

    /// Changes the registry in one transaction; what a peer is pushed gets its next serial where it is another now.
    ///
    /// - Parameters:
    ///   - clientKey: The private key of a client that `body` adds, kept for ``clientKey(of:)``.
    ///   - peer: The name of that client.
    ///   - body: Changes the contents; when it throws, nothing is changed.
    /// - Returns: The contents after the change.
    /// - Throws: What `body` threw, or ``RegistryErrorCode/unusableFile``.
    @discardableResult
    public func change(
        keeping clientKey: PrivateKey? = nil, of peer: String = "",
        _ body: (inout RegistryContents) throws(RegistryError) -> Void
    ) throws(RegistryError) -> RegistryContents {
        try guarded {
            try database.transaction {
                let before = try database.readContents()
                var after = before
                try body(&after)
                try after.refreshVersions(since: before)
                try database.write(after, replacing: before)
                if let clientKey {
                    try database.run(
                        "INSERT INTO client_keys(peer, private_key) VALUES(?, ?)", .text(peer),
                        .blob(clientKey.key.bytes))
                }
                return after
            }
        }
    }

    /// A number that is another one after somebody else has changed the registry.
    public var dataVersion: Int64 {
        get throws(RegistryError) { try guarded { try database.dataVersion } }
    }

    // MARK: Keys of clients

    /// The private key of a client that was made here.
    ///
    /// - Throws: ``RegistryErrorCode/clientKeyUnknown``.
    public func clientKey(of peer: String) throws(RegistryError) -> PrivateKey {
        let bytes = try guarded {
            try database.firstRow("SELECT private_key FROM client_keys WHERE peer = ?", .text(peer)) { $0.bytes(0) }
        }
        guard let key = bytes.flatMap({ Key256(bytes: $0) }) else {
            throw RegistryError(.clientKeyUnknown, cause: "The private key of `\(peer.excerpt)` is not here.")
        }
        return PrivateKey(key)
    }

    /// Removes the private key of a client.
    public func forgetClientKey(of peer: String) throws(RegistryError) {
        try guarded { try database.run("DELETE FROM client_keys WHERE peer = ?", .text(peer)) }
    }

    /// The path of the file in a state folder.
    public static func path(in folder: String) -> String { "\(folder)/\(fileName)" }
}

/// Runs `body` and makes an error of the registry of whatever SQLite refuses.
@discardableResult
func guarded<Result: ~Copyable>(_ body: () throws -> Result) throws(RegistryError) -> Result {
    do {
        return try body()
    } catch let error as RegistryError {
        throw error
    } catch let error as SQLiteError {
        throw RegistryError(.unusableFile, cause: "The registry of the gateway cannot be used: \(error).")
    } catch {
        throw RegistryError(.unusableFile, cause: "The registry of the gateway cannot be used: \(error).")
    }
}
