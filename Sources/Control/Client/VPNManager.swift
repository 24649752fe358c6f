public import ProviderKit

/// The personal VPN of this application, of which it has one (Network Extension's `NEVPNManager`).
///
/// A second save replaces the first. The order is load, change, save.
public final class VPNManager: Sendable {
    private let slot: ConfigurationSlot
    /// The session of the personal VPN.
    public let connection: VPNConnection

    private static let sharedManager = VPNManager(client: .shared)

    /// The manager of this process.
    public static func shared() -> VPNManager { sharedManager }

    /// Makes the manager of another client: for tests and for tools.
    init(client: ManagerClient) {
        slot = ConfigurationSlot(client: client, slot: .personal)
        connection = VPNConnection(slot)
    }

    /// Loads the personal VPN; that there is none is no error.
    ///
    /// - Throws: ``VPNError``, code configurationReadWriteFailed.
    public func loadFromPreferences() async throws {
        guard !slot.isSaved else {
            do {
                return try await slot.load()
            } catch let error as VPNError where error.code == .configurationInvalid {
                // Somebody removed it, so there is none.
                return
            }
        }
        let found = try await ConfigurationSlot.loadAll(slot.client).first { $0.content.slot == .personal }
        if let found { slot.adopt(found) } else { try await slot.load() }
    }

    /// Saves the personal VPN, in place of the one before.
    ///
    /// - Throws: ``VPNError``; configurationStale before the first load of this launch and after somebody else has saved,
    ///   configurationInvalid for what cannot be saved; KeychainError for what is no reference.
    public func saveToPreferences() async throws { try await slot.save() }

    /// Removes the personal VPN and stops it.
    ///
    /// - Throws: ``VPNError``; configurationInvalid when there is none.
    public func removeFromPreferences() async throws { try await slot.remove() }

    /// Whether the VPN may be started.
    public var isEnabled: Bool {
        get { slot.content.isEnabled }
        set { slot.change { $0.isEnabled = newValue } }
    }

    /// IKEv2 or IPSec; nil before the first load.
    public var protocolConfiguration: ProtocolConfiguration? {
        get { slot.content.protocolConfiguration }
        set { slot.change { $0.protocolConfiguration = newValue } }
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
}
