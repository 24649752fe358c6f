public import ProviderKit
internal import SQLite

/// What one transaction, of this process or of another, has changed.
public struct StoreChange: Sendable, Equatable {
    /// The configurations that were saved or removed.
    public var configurations: [ConfigurationChange]
    /// Whether keychain items were added, updated or deleted.
    public var hasKeychainChanged: Bool

    var isEmpty: Bool { configurations.isEmpty && !hasKeychainChanged }
}

/// One configuration that was saved or removed.
public struct ConfigurationChange: Sendable, Hashable {
    /// The configuration.
    public let identifier: UniqueIdentifier
    /// The user that owns it.
    public let user: UInt32
    /// The application that owns it.
    public let application: String
    /// The generation that is stored now, nil when it was removed.
    public let generation: UInt64?
}

/// What a store holds, as far as a change can be told from it.
struct StoreSnapshot: Equatable {
    struct Entry: Equatable {
        let user: UInt32
        let application: String
        let generation: UInt64
    }

    var configurations: [UniqueIdentifier: Entry] = [:]
    var configurationCounter: Int64 = 0
    var keychainCounter: Int64 = 0

    /// What has to have happened to come from an earlier snapshot to this one.
    func changes(since earlier: StoreSnapshot) -> StoreChange {
        let saved = configurations.filter { earlier.configurations[$0.key] != $0.value }.map { identifier, entry in
            ConfigurationChange(
                identifier: identifier, user: entry.user, application: entry.application, generation: entry.generation)
        }
        let removed = earlier.configurations.filter { configurations[$0.key] == nil }.map { identifier, entry in
            ConfigurationChange(
                identifier: identifier, user: entry.user, application: entry.application, generation: nil)
        }
        return StoreChange(
            configurations: removed + saved.sorted { ($0.generation ?? 0) < ($1.generation ?? 0) },
            hasKeychainChanged: keychainCounter != earlier.keychainCounter)
    }
}

extension StoreSession {
    /// Looks what there is, reading the table only where the counter says that it has changed.
    func snapshot(after earlier: StoreSnapshot) throws -> StoreSnapshot {
        var snapshot = earlier
        snapshot.keychainCounter = try value(of: .keychain)
        snapshot.configurationCounter = try value(of: .configurations)
        guard snapshot.configurationCounter != earlier.configurationCounter else { return snapshot }
        let rows = try database.rows("SELECT identifier, user, application, generation FROM configurations") { row in
            (
                UniqueIdentifier(row.text(0)),
                StoreSnapshot.Entry(
                    user: UInt32(truncatingIfNeeded: row.integer(1)), application: row.text(2),
                    generation: UInt64(clamping: row.integer(3)))
            )
        }
        snapshot.configurations = [:]
        for case (let identifier?, let entry) in rows { snapshot.configurations[identifier] = entry }
        return snapshot
    }
}
