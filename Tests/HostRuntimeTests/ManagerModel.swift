import Control
import ProviderKit
import Session

@testable import HostRuntime

/// What makes two errors the same to a program.
struct Refusal: Hashable, CustomStringConvertible {
    let domain: String
    let code: Int
    var description: String { "\(domain) \(code)" }

    init(_ error: some TunnelError) {
        domain = error.errorDomain
        code = error.errorCode
    }

    static let notPermitted = Refusal(ControlError(.notPermitted))
    static let missing = Refusal(VPNError(.configurationInvalid))
    static let invalid = Refusal(VPNError(.configurationInvalid))
    static let stale = Refusal(VPNError(.configurationStale))
    static let disabled = Refusal(VPNError(.configurationDisabled))
    static let active = Refusal(SessionError(.alreadyActive))
    static let notRunning = Refusal(SessionError(.notRunning))
    static let interfaceLost = Refusal(SessionError(.interfaceLost))
    static let pluginFailed = Refusal(VPNConnectionError(.pluginFailed))
    static let itemNotFound = Refusal(KeychainError(.itemNotFound))
    static let locked = Refusal(KeychainError(.interactionNotAllowed))
}

/// The four clients of the model.
enum ModelClient: Int, CaseIterable, Sendable {
    /// Root, the owners of some configurations each, and a member of the group that may start and stop everything.
    case root, owner, neighbour, helper

    static let operators: UInt32 = 2000
    static let owners: [UInt32] = [1000, 1002]

    var user: UInt32 { [0, 1000, 1002, 1001][rawValue] }
    var caller: Caller { Caller(user: user, groups: self == .helper ? [user, Self.operators] : [user], process: 1) }
}

/// What the manager should answer and become, written down apart from the code that does it.
struct ManagerModel {
    /// A secret of a configuration, as it was saved last.
    struct Secret {
        var text: String
        var needsUnlocked: Bool
        var isDeleted = false
    }

    /// By identifier: what is saved, and what was removed while its session runs.
    var tunnels: [String: ModelTunnel] = [:]
    var isLocked = false
    /// The newest generation that was given.
    var generation: UInt64 = 0

    /// A configuration that is saved.
    func saved(_ key: String) -> ModelTunnel? { tunnels[key].flatMap { $0.isSaved ? $0 : nil } }

    func permission(of client: ModelClient, over key: String?) -> Permission {
        let owner = key.flatMap { saved($0)?.configuration.owner }
        switch client {
        case .root: return .administer
        case .helper: return .operate
        case .owner, .neighbour: return owner == client.user ? .administer : .none
        }
    }

    func ownsAny(_ client: ModelClient) -> Bool {
        tunnels.values.contains { $0.isSaved && $0.configuration.owner == client.user }
    }

    /// Whether a client may do something to a configuration, and whether there is one.
    func access(_ client: ModelClient, _ key: String, _ needed: Permission) -> Refusal? {
        guard permission(of: client, over: key) >= needed else { return .notPermitted }
        return saved(key) == nil ? .missing : nil
    }

    /// Whether a client may ask for everything that it may see.
    func overview(_ client: ModelClient) -> Refusal? {
        [.root, .helper].contains(client) || ownsAny(client) ? nil : .notPermitted
    }

    func visible(to client: ModelClient) -> [ManagedConfiguration] {
        tunnels.values.filter(\.isSaved).map(\.configuration).filter {
            [.root, .helper].contains(client) || $0.owner == client.user
        }
    }

    func save(_ new: ManagedConfiguration, _ secret: Secret?, by client: ModelClient) -> Refusal? {
        guard permission(of: client, over: new.key) == .administer else { return .notPermitted }
        let stored = saved(new.key)
        if let stored, stored.configuration.owner != new.owner || stored.configuration.application != new.application {
            return .invalid
        }
        if new.isRedacted { return .invalid }
        let allowsHooks = new.tunnelProvider?.providerConfiguration[TunnelProviderProtocol.allowHooksKey] == true
        if client != .root, allowsHooks { return .notPermitted }
        if secret?.needsUnlocked == true, isLocked { return .locked }
        guard new.content.generation == stored?.configuration.content.generation ?? 0 else { return .stale }
        return new.tunnelProvider?.serverAddress == nil ? .invalid : nil
    }

    func start(_ key: String, _ generation: UInt64?, by client: ModelClient) -> Refusal? {
        if let refusal = access(client, key, .operate) { return refusal }
        guard let tunnel = saved(key) else { return .missing }
        let content = tunnel.configuration.content
        if let generation, generation != content.generation { return .stale }
        guard content.isEnabled else { return .disabled }
        guard tunnel.isInstalled else { return .invalid }
        if tunnel.secret?.isDeleted == true { return .itemNotFound }
        if tunnel.secret?.needsUnlocked == true, isLocked { return .locked }
        switch tunnel.phase {
        case .idle: return nil
        case .stopping: return tunnel.hasWaitingStart ? .active : nil
        default: return .active
        }
    }

    func message(_ key: String, by client: ModelClient) -> Refusal? {
        if let refusal = access(client, key, .operate) { return refusal }
        return saved(key)?.phase == .idle ? .notRunning : nil
    }

    func remove(_ key: String, _ generation: UInt64?, by client: ModelClient) -> Refusal? {
        if let refusal = access(client, key, .administer) { return refusal }
        guard let generation else { return nil }
        return generation == saved(key)?.configuration.content.generation ? nil : .stale
    }

    /// What reading or deleting the secret of a configuration gives; the items of another user are out of reach.
    func secret(_ key: String, of owner: UInt32, by client: ModelClient, reads: Bool) -> Refusal? {
        guard client == .root || ownsAny(client), client == .root || client.user == owner else { return .notPermitted }
        guard let secret = saved(key)?.secret, !secret.isDeleted else { return .itemNotFound }
        return reads && secret.needsUnlocked && isLocked ? .locked : nil
    }
}

extension ManagerModel {
    /// Takes over a save that was accepted.
    mutating func saved(
        _ new: ManagedConfiguration, _ secret: Secret?, isInstalled: Bool, generation: UInt64
    ) -> ModelTunnel.Effect {
        self.generation = generation
        var tunnel = tunnels[new.key] ?? ModelTunnel(new, isInstalled: isInstalled)
        if !tunnel.isSaved {
            // The session of the removed one is still ending; it is not the session of this one.
            tunnel.isSaved = true
            tunnel.isNoted = false
            tunnel.secret = nil
        }
        tunnel.configuration = new
        tunnel.configuration.content.generation = generation
        tunnel.isInstalled = isInstalled
        tunnel.secret = secret ?? tunnel.secret
        let effect = new.content.isEnabled ? .nothing : tunnel.stop(.configurationDisabled)
        tunnels[new.key] = tunnel
        return effect
    }

    /// Takes over a removal that was accepted.
    mutating func removed(_ key: String) -> ModelTunnel.Effect {
        guard var tunnel = tunnels[key] else { return .nothing }
        let wasIdle = tunnel.phase == .idle
        tunnel.isSaved = false
        tunnel.secret = nil
        let effect = tunnel.stop(.configurationRemoved)
        tunnels[key] = wasIdle ? nil : tunnel
        return effect
    }

    /// The manager is gone with all its sessions, and another one has loaded the store.
    mutating func restarted() {
        isLocked = false
        for (key, tunnel) in tunnels {
            guard tunnel.isSaved else {
                tunnels[key] = nil
                continue
            }
            var fresh = ModelTunnel(tunnel.configuration, isInstalled: tunnel.isInstalled)
            fresh.secret = tunnel.secret
            fresh.error = tunnel.isNoted ? .pluginFailed : tunnel.error
            tunnels[key] = fresh
        }
    }
}
