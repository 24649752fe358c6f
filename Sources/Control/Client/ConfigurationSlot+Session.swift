internal import Foundation
internal import ProviderKit

/// The session of the configuration.
extension ConfigurationSlot {
    var identifier: String { content.identifier.description }

    /// What is known of the session, once the configuration was loaded.
    var session: SessionState? { stored == nil ? nil : client.monitor.session(identifier) }

    var status: VPNStatus { session?.status ?? .invalid }

    var connectedDate: Date? { session?.connectedSince.map { Date(timeIntervalSince1970: $0) } }

    var statusChanges: AsyncStream<VPNStatus> { client.monitor.statusChanges(of: identifier) }

    func start(options: [String: PropertyListValue]?) throws {
        let configuration = try startableConfiguration()
        let request = ManagerMessages.Start(
            identifier: configuration.key, generation: configuration.content.generation, options: options)
        _ = try Self.mapped { try client.call(.start, request, reply: NoParameters.self) }
    }

    /// A stop has no way to tell an error; the status tells what became of it.
    func stop() {
        guard isSaved else { return }
        _ = try? client.call(.stop, ManagerMessages.Identifier(identifier: identifier), reply: NoParameters.self)
    }

    func fetchLastDisconnectError() async throws {
        let request = ManagerMessages.Identifier(identifier: identifier)
        let reply = try await Self.mapped {
            try await client.call(.fetchLastDisconnectError, request, reply: ManagerMessages.LastError.self)
        }
        if let error = reply.error { throw error.failure }
    }

    /// The configuration as it was loaded, where a start would know what it starts.
    func startableConfiguration() throws -> ManagedConfiguration {
        if let configuration = startable { return configuration }
        guard isSaved else {
            throw VPNError(
                .configurationInvalid,
                cause: "The configuration was never saved and loaded, so there is nothing to start.",
                remedy: "Save it, load it, and start it.")
        }
        throw VPNError(
            .configurationStale, cause: "The configuration was saved and not loaded since.",
            remedy: "Call loadFromPreferences, and start then.")
    }
}
