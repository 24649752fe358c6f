public import ProviderKit

/// One configuration of this application as a cached view of the store (Network Extension's `NETunnelProviderManager`).
///
/// The order is load, change, save, load, start. Before the first load a manager is empty and its session's status is
/// ``VPNStatus/invalid``; what it shows is what was loaded last, also after somebody else has saved.
public final class TunnelProviderManager: Sendable {
    /// The store's view of the configuration.
    let slot: ConfigurationSlot
    /// The session of this configuration; the same object for the manager's life.
    public let connection: TunnelProviderSession

    /// Makes a new configuration that is not saved.
    ///
    /// - Parameter client: The way to the manager of the machine.
    public convenience init(client: ManagerClient = .shared) {
        self.init(ConfigurationSlot(client: client, slot: .tunnelProvider))
    }

    init(_ slot: ConfigurationSlot) {
        self.slot = slot
        connection = TunnelProviderSession(slot)
        slot.manager = self
    }

    /// Loads the configurations of this application.
    ///
    /// - Parameter client: The way to the manager of the machine; the application is the client's.
    /// - Returns: A manager for each; none when there are none.
    /// - Throws: ``VPNError``, code configurationReadWriteFailed.
    public static func loadAllFromPreferences(
        client: ManagerClient = .shared
    ) async throws -> [TunnelProviderManager] {
        try await ConfigurationSlot.loadAll(client).filter { $0.stored?.content.slot == .tunnelProvider }
            .map { TunnelProviderManager($0) }
    }

    /// Loads the configuration again: what was changed and not saved is lost.
    ///
    /// - Throws: ``VPNError``; configurationInvalid when the configuration was removed, configurationReadWriteFailed.
    public func loadFromPreferences() async throws { try await slot.load() }

    /// Saves the configuration.
    ///
    /// - Throws: ``VPNError``; configurationStale before the first load of this launch and after somebody else has saved,
    ///   configurationInvalid for what cannot be saved, configurationReadWriteFailed.
    public func saveToPreferences() async throws { try await slot.save() }

    /// Removes the configuration and stops its session; the manager keeps its values until the next load.
    ///
    /// - Throws: ``VPNError``; configurationInvalid when it was not saved or is gone.
    public func removeFromPreferences() async throws { try await slot.remove() }

    /// Whether the configuration may be started.
    public var isEnabled: Bool {
        get { slot.content.isEnabled }
        set { slot.change { $0.isEnabled = newValue } }
    }

    /// How to connect; nil before the first load.
    public var protocolConfiguration: TunnelProviderProtocol? {
        get {
            guard case .tunnelProvider(let provider) = slot.content.protocolConfiguration else { return nil }
            return provider
        }
        set { slot.change { $0.protocolConfiguration = newValue.map { .tunnelProvider($0) } } }
    }

    /// When to start and stop without being asked, in order.
    public var onDemandRules: [OnDemandRule]? {
        get { slot.content.onDemandRules }
        set { slot.change { $0.onDemandRules = newValue } }
    }

    /// Whether ``onDemandRules`` are in force.
    public var isOnDemandEnabled: Bool {
        get { slot.content.isOnDemandEnabled }
        set { slot.change { $0.isOnDemandEnabled = newValue } }
    }

    /// The name that people see.
    public var localizedDescription: String? {
        get { slot.content.localizedDescription }
        set { slot.change { $0.localizedDescription = newValue } }
    }

    /// What names the configuration in the store and in ``configurationChanges(client:)``.
    public var identifier: String { slot.content.identifier.description }

    /// The save that the content comes from; nil before the first load, 0 for one that was never saved.
    public var generation: UInt64? { slot.content.generation }

    /// The user that the configuration belongs to; only root may give it to another.
    public var owner: UInt32 {
        get { slot.owner }
        set { slot.owner = newValue }
    }

    /// The application that the configuration belongs to.
    public var application: String { slot.application }

    /// What the last save warned of: things that work, and are probably not meant.
    public var warnings: [String] { slot.warnings }

    /// Secrets that the next save puts into the keychain together with the configuration.
    public func addSecret(_ name: String, _ bytes: [UInt8]) { slot.addSecret(name, bytes) }

    /// The identifiers of this application's configurations that were saved or removed, by anybody, from now on.
    ///
    /// A manager shows the new content after its next load.
    ///
    /// - Parameter client: The way to the manager of the machine.
    /// - Returns: The changes; they end with the client.
    /// - Throws: ``VPNError``, code configurationReadWriteFailed.
    public static func configurationChanges(client: ManagerClient = .shared) throws -> AsyncStream<String> {
        try ConfigurationSlot.mapped { try client.monitor.start() }
        return client.monitor.configurationChanges()
    }
}
