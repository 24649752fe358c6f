internal import Foundation
public import ProviderKit
internal import SQLite

extension StoreSession {
    /// Loads a client's configurations of one manager, in the order in which they were first saved.
    ///
    /// One that cannot be read is left out, so that it does not hide the others; ``unreadableConfigurations()`` names it.
    public func configurations(
        of client: StoreClient, slot: VPNConfigurationSlot = .tunnelProvider
    ) throws -> [VPNConfiguration] {
        try database.rows(
            "SELECT identifier, slot, generation, content FROM configurations"
                + " WHERE user = ? AND application = ? AND slot = ? ORDER BY rowid",
            .integer(Int64(client.user)), .text(client.application), .text(slot.rawValue)
        ) { row in try? Self.configuration(row) }.compactMap { $0 }
    }

    /// Loads one configuration of a client, nil where it has none with this identifier.
    public func configuration(_ identifier: UniqueIdentifier, of client: StoreClient) throws -> VPNConfiguration? {
        try database.firstRow(
            "SELECT identifier, slot, generation, content FROM configurations"
                + " WHERE identifier = ? AND user = ? AND application = ?",
            .text(identifier.description), .integer(Int64(client.user)), .text(client.application)
        ) { row in try Self.configuration(row) }
    }

    /// Loads everybody's configurations: for the manager itself and for administrators.
    public func allConfigurations() throws -> [OwnedConfiguration] {
        try database.rows(
            "SELECT identifier, slot, generation, content, user, application FROM configurations ORDER BY rowid"
        ) { row in
            (try? Self.configuration(row)).map {
                OwnedConfiguration(
                    user: UInt32(truncatingIfNeeded: row.integer(4)), application: row.text(5), configuration: $0)
            }
        }.compactMap { $0 }
    }

    /// The identifiers of stored configurations whose content cannot be read.
    public func unreadableConfigurations() throws -> [String] {
        try database.rows("SELECT identifier, slot, generation, content FROM configurations") { row in
            (try? Self.configuration(row)) == nil ? row.text(0) : nil
        }.compactMap { $0 }
    }

    /// Saves a configuration that was loaded, or is new.
    ///
    /// - Parameters:
    ///   - configuration: What to save; its generation tells what it was made from.
    ///   - client: The owner.
    /// - Returns: What a load gives from now on.
    /// - Throws: ``VPNError`` or ``KeychainError``; the stored configuration is then as it was.
    @discardableResult
    public func save(_ configuration: VPNConfiguration, of client: StoreClient) throws -> VPNConfiguration {
        let stored = try self.stored(configuration, of: client)
        try Self.checkGeneration(configuration, against: stored)
        var saved = configuration
        saved.localizedDescription = configuration.localizedDescription ?? client.application
        let identityPassword = try takeIdentity(of: &saved, stored: stored)
        try ConfigurationCheck.check(saved)
        try checkReferences(of: saved, since: stored?.configuration, client)

        let generation = try count(.configurations)
        // The generation has a column of its own, and is no part of the content.
        saved.generation = nil
        let content = try Self.encode(saved)
        guard content.count <= ConfigurationCheck.contentLimit else {
            throw VPNError(
                .configurationInvalid, cause: "The configuration takes \(content.count) bytes.",
                remedy: "Keep it within \(ConfigurationCheck.contentLimit) bytes.")
        }
        try database.run(
            """
            INSERT INTO configurations (identifier, user, application, slot, generation, content, identity_password)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            ON CONFLICT (identifier) DO UPDATE SET generation = ?5, content = ?6, identity_password = ?7
            """,
            .text(saved.identifier.description), .integer(Int64(client.user)), .text(client.application),
            .text(saved.slot.rawValue), .integer(Int64(clamping: generation)), .blob(content),
            .optional(identityPassword))
        saved.generation = generation
        return saved
    }

    /// Removes a configuration; keychain items that it refers to stay, as they may serve others.
    ///
    /// - Throws: ``VPNError``, code configurationInvalid, where the client has no such configuration.
    public func remove(_ identifier: UniqueIdentifier, of client: StoreClient) throws {
        let removed = try database.run(
            "DELETE FROM configurations WHERE identifier = ? AND user = ? AND application = ?",
            .text(identifier.description), .integer(Int64(client.user)), .text(client.application))
        guard removed > 0 else { throw Self.notSaved }
        try count(.configurations)
    }

    static let notSaved = VPNError(
        .configurationInvalid, cause: "There is no saved configuration with this identifier.",
        remedy: "Load again to see what is there.")

    /// What lies in the row that a save would replace.
    struct Stored {
        let configuration: VPNConfiguration
        let identityPassword: [UInt8]?
    }

    /// Finds that row: by identifier, or by slot for the personal one, of which each application has one.
    private func stored(_ configuration: VPNConfiguration, of client: StoreClient) throws -> Stored? {
        let row = try database.firstRow(
            "SELECT identifier, slot, generation, content, identity_password, user, application FROM configurations"
                + " WHERE identifier = ?1 OR (slot = 'personal' AND slot = ?2 AND user = ?3 AND application = ?4)",
            .text(configuration.identifier.description), .text(configuration.slot.rawValue),
            .integer(Int64(client.user)), .text(client.application)
        ) { row in
            (
                stored: Stored(configuration: try Self.configuration(row), identityPassword: row.optionalBytes(4)),
                isOurs: row.integer(5) == Int64(client.user) && row.text(6) == client.application
            )
        }
        guard let row else { return nil }
        // Somebody else's identifier is as good as none; a new one is never equal by chance.
        guard row.isOurs, row.stored.configuration.slot == configuration.slot else { throw Self.notSaved }
        return row.stored
    }

    /// Load, modify, save: refuses a save of what was not loaded, or was changed by somebody else since.
    private static func checkGeneration(
        _ configuration: VPNConfiguration, against stored: Stored?
    ) throws(VPNError) {
        guard let generation = configuration.generation else {
            throw VPNError(
                .configurationStale, cause: "The configuration was not loaded before it was saved.",
                remedy: "Load it, apply the change, and save.")
        }
        guard let stored else {
            guard generation == 0 else {
                throw VPNError(
                    .configurationStale, cause: "The configuration was removed by somebody else since it was loaded.",
                    remedy: "Load again, or save it as a new one.")
            }
            return
        }
        guard stored.configuration.generation == generation,
            stored.configuration.identifier == configuration.identifier
        else { throw VPNError(.configurationStale) }
    }

    private static func configuration(_ row: borrowing Statement) throws -> VPNConfiguration {
        do {
            var configuration = try JSONDecoder().decode(VPNConfiguration.self, from: Data(row.bytes(3)))
            configuration.generation = UInt64(clamping: row.integer(2))
            return configuration
        } catch {
            throw VPNError(
                .configurationReadWriteFailed, cause: "The stored configuration \(row.text(0)) cannot be read.",
                remedy: "Remove it by its identifier and save it again.")
        }
    }

    private static func encode(_ configuration: VPNConfiguration) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .throw
        do {
            return [UInt8](try encoder.encode(configuration))
        } catch {
            throw VPNError(
                .configurationInvalid, cause: "providerConfiguration holds a number that is not finite.",
                remedy: "Write it as text.")
        }
    }
}

/// A configuration with its owner.
public struct OwnedConfiguration: Sendable, Equatable {
    /// The user that owns it.
    public let user: UInt32
    /// The application that owns it.
    public let application: String
    /// The configuration.
    public let configuration: VPNConfiguration
}
