internal import Foundation
public import ProviderKit
internal import SQLite

/// What the manager keeps beside a configuration; none of it makes a loaded configuration stale.
extension StoreSession {
    /// Notes that a session of this configuration was started, or ended.
    ///
    /// - Parameters:
    ///   - session: The session, nil when it has ended.
    ///   - identifier: The configuration; one that was removed meanwhile is no error.
    /// - Throws: An error of the database.
    public func setSession(_ session: UniqueIdentifier?, of identifier: UniqueIdentifier) throws {
        try database.run(
            "UPDATE configurations SET session = ? WHERE identifier = ?", .optional(session?.description),
            .text(identifier.description))
    }

    /// The sessions that were started and not ended, by configuration: what a manager that comes back looks for.
    public func startedSessions() throws -> [UniqueIdentifier: UniqueIdentifier] {
        let rows = try database.rows("SELECT identifier, session FROM configurations WHERE session IS NOT NULL") {
            row in
            (UniqueIdentifier(row.text(0)), UniqueIdentifier(row.text(1)))
        }
        var sessions: [UniqueIdentifier: UniqueIdentifier] = [:]
        for case (let configuration?, let session?) in rows { sessions[configuration] = session }
        return sessions
    }

    /// Keeps the error that ended the last session, nil when it ended without one.
    public func setLastDisconnectError(_ error: TunnelFailure?, of identifier: UniqueIdentifier) throws {
        let content = try error.map { [UInt8](try JSONEncoder().encode($0)) }
        try database.run(
            "UPDATE configurations SET last_disconnect_error = ? WHERE identifier = ?", .optional(content),
            .text(identifier.description))
    }

    /// The error that ended the last session, nil when there was none.
    public func lastDisconnectError(of identifier: UniqueIdentifier) throws -> TunnelFailure? {
        let content = try database.firstRow(
            "SELECT last_disconnect_error FROM configurations WHERE identifier = ?", .text(identifier.description)
        ) { $0.optionalBytes(0) }
        guard let content = content ?? nil else { return nil }
        return try? JSONDecoder().decode(TunnelFailure.self, from: Data(content))
    }
}
