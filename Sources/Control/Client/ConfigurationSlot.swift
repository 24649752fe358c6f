private import Glibc
internal import ProviderKit
internal import Synchronization

/// What a manager object and its session know of one configuration, and how they load and save it.
final class ConfigurationSlot: Sendable {
    private struct State {
        /// What the application sees and changes.
        var content: VPNConfiguration
        /// What the last load brought; nil before it, and after it when there is no such configuration.
        var stored: ManagedConfiguration?
        var owner: UInt32
        var application: String
        /// Whether a save has come after the last load.
        var needsLoad = false
        var warnings: [String] = []
        var secrets: [NewSecret] = []
        weak var manager: TunnelProviderManager?

        /// Shows what a load brought.
        mutating func take(_ loaded: ManagedConfiguration) {
            content = loaded.content
            stored = loaded
            owner = loaded.owner
            application = loaded.application
            needsLoad = false
            secrets = []
        }
    }

    let client: ManagerClient
    private let slot: VPNConfigurationSlot
    private let state: Mutex<State>

    /// Makes a slot for a configuration that was neither saved nor loaded.
    init(client: ManagerClient, slot: VPNConfigurationSlot) {
        self.client = client
        self.slot = slot
        state = Mutex(
            State(
                content: VPNConfiguration(slot: slot), owner: geteuid(),
                application: client.application ?? ManagerClient.toolName))
    }

    private init(client: ManagerClient, loaded: ManagedConfiguration) {
        self.client = client
        slot = loaded.content.slot
        state = Mutex(
            State(
                content: loaded.content, stored: loaded, owner: loaded.owner, application: loaded.application))
    }

    var content: VPNConfiguration { state.withLock { $0.content } }
    var stored: ManagedConfiguration? { state.withLock { $0.stored } }
    var application: String { state.withLock { $0.application } }
    var warnings: [String] { state.withLock { $0.warnings } }

    var owner: UInt32 {
        get { state.withLock { $0.owner } }
        set { state.withLock { $0.owner = newValue } }
    }

    var manager: TunnelProviderManager? {
        get { state.withLock { $0.manager } }
        set { state.withLock { $0.manager = newValue } }
    }

    /// The configuration as it was loaded; nil while a start would not know what it starts.
    var startable: ManagedConfiguration? { state.withLock { $0.needsLoad ? nil : $0.stored } }

    /// Whether it was ever saved, as far as this object knows.
    var isSaved: Bool { state.withLock { $0.stored != nil || $0.needsLoad } }

    func change(_ change: (inout VPNConfiguration) -> Void) { state.withLock { change(&$0.content) } }

    func addSecret(_ name: String, _ bytes: [UInt8]) {
        state.withLock { state in
            state.secrets.removeAll { $0.name == name }
            state.secrets.append(NewSecret(name: name, bytes: bytes))
        }
    }

    /// Loads every configuration of the client's application.
    static func loadAll(_ client: ManagerClient) async throws -> [ConfigurationSlot] {
        let listing = try await mapped {
            try client.monitor.start()
            return try await client.call(
                .list, ManagerMessages.Application(application: client.application), reply: ManagerMessages.Listing.self
            )
        }
        client.monitor.merge(listing.sessions)
        client.noteLoad()
        return listing.configurations.map { ConfigurationSlot(client: client, loaded: $0) }
    }

    /// Takes over what another slot has loaded.
    func adopt(_ other: ConfigurationSlot) {
        guard let loaded = other.stored else { return }
        state.withLock { $0.take(loaded) }
    }

    func load() async throws {
        guard isSaved else {
            // Nothing was saved, so there is nothing to load, which is no error.
            try Self.mapped { try client.monitor.start() }
            client.noteLoad()
            return reset()
        }
        let reply: ManagerMessages.Single
        do {
            reply = try await Self.mapped {
                try client.monitor.start()
                return try await client.call(
                    .get, ManagerMessages.Identifier(identifier: content.identifier.description),
                    reply: ManagerMessages.Single.self)
            }
        } catch let error as VPNError where error.code == .configurationInvalid {
            client.noteLoad()
            reset()
            throw error
        }
        client.monitor.merge([reply.session])
        client.noteLoad()
        state.withLock { $0.take(reply.configuration) }
    }

    func save() async throws {
        guard client.isLoaded else {
            throw VPNError(
                .configurationStale, cause: "The configuration was not loaded since the application was launched.",
                remedy: "Call loadFromPreferences or loadAllFromPreferences first, change what it gave, and save that.")
        }
        let request = state.withLock { state in
            // Of a new configuration a load finds nothing, and one was made.
            if state.content.generation == nil { state.content.generation = 0 }
            var configuration = ManagedConfiguration(
                state.content, application: state.application, owner: state.owner)
            configuration.isRedacted = state.stored?.isRedacted ?? false
            return ManagerMessages.Save(configuration: configuration, secrets: state.secrets)
        }
        let reply = try await Self.mapped {
            try await client.call(.save, request, reply: ManagerMessages.Saved.self)
        }
        state.withLock { state in
            state.content.generation = reply.generation
            state.needsLoad = true
            state.warnings = reply.warnings
            state.secrets = []
        }
    }

    func remove() async throws {
        guard isSaved else {
            throw VPNError(
                .configurationInvalid, cause: "The configuration was never saved, so it cannot be removed.", remedy: "")
        }
        let request = ManagerMessages.Remove(identifier: content.identifier.description, generation: nil)
        _ = try await Self.mapped { try await client.call(.remove, request, reply: NoParameters.self) }
        state.withLock { $0.content.generation = 0 }
    }

    /// Runs a request; what kept it from the store becomes Network Extension's error for that.
    static func mapped<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch { throw mapped(error) }
    }

    /// Runs a request; what kept it from the store becomes Network Extension's error for that.
    static func mapped<Value>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch { throw mapped(error) }
    }

    private static func mapped(_ error: any Error) -> any Error {
        switch error {
        case let error as ControlError:
            VPNError(.configurationReadWriteFailed, cause: error.cause, remedy: error.remedy)
        case let error as WireError:
            VPNError(.configurationReadWriteFailed, cause: error.cause, remedy: error.remedy)
        case let error as TunnelFailure: typed(error)
        default: error
        }
    }

    /// The error with its type again, where it is one of Network Extension's.
    private static func typed(_ error: TunnelFailure) -> any Error {
        switch error.errorDomain {
        case VPNErrorCode.domain:
            VPNErrorCode(rawValue: error.errorCode).map { VPNError($0, cause: error.cause, remedy: error.remedy) }
                ?? error
        case ControlErrorCode.domain:
            VPNError(.configurationReadWriteFailed, cause: error.cause, remedy: error.remedy)
        default: error
        }
    }

    private func reset() {
        state.withLock { state in
            state.content = VPNConfiguration(slot: slot)
            state.stored = nil
            state.needsLoad = false
            state.secrets = []
        }
    }
}
