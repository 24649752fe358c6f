import Control
import ProviderKit

/// One configuration and its session in the model.
struct ModelTunnel {
    /// What a session does between two steps of the test; the statuses are coarser.
    enum Phase: Hashable, CaseIterable {
        case idle
        /// The first worker loads its module; its provider starts; it is up; it says that it reasserts.
        case loading, starting, up, reasserting
        /// A worker died while the tunnel was up: the next one loads; its provider starts.
        case reloading, restarting
        /// The provider was told to stop.
        case stopping
    }

    /// What the world sees of a step.
    enum Effect: Equatable {
        case nothing
        /// A worker process was made.
        case spawned
        /// The provider was told to start, and given the messages that waited.
        case started
        /// The provider was told to stop.
        case told(ProviderStopReason)
        case ended
        /// The session ended, and the start that waited began another one.
        case relaunched
    }

    /// A message that waits for its reply.
    struct Message {
        let token: UInt64
        var isDelivered: Bool
    }

    /// So many failures in a row end a session.
    static let failureLimit = 4

    var configuration: ManagedConfiguration
    var secret: ManagerModel.Secret?
    var isSaved = true
    var isInstalled: Bool
    var phase = Phase.idle
    var hasWaitingStart = false
    /// The secret that the session was given when its start was accepted, and the one that waits with a start.
    var givenSecret: String?
    private var waitingSecret: String?
    /// What was told of the last session.
    var error: Refusal?
    /// What will be told of the one that runs.
    var pending: Refusal?
    /// Whether the store knows that a session runs.
    var isNoted = false
    var messages: [Message] = []
    private var failures = 0

    init(_ configuration: ManagedConfiguration, isInstalled: Bool) {
        self.configuration = configuration
        self.isInstalled = isInstalled
    }

    var status: VPNStatus {
        switch phase {
        case .idle: isSaved && configuration.content.isEnabled ? .disconnected : .invalid
        case .loading, .starting: .connecting
        case .up: .connected
        case .reasserting, .reloading, .restarting: .reasserting
        case .stopping: .disconnecting
        }
    }

    mutating func start() -> Effect {
        guard phase == .idle else {
            hasWaitingStart = true
            waitingSecret = secret?.text
            return .nothing
        }
        givenSecret = secret?.text
        launch()
        return .spawned
    }

    mutating func stop(_ reason: ProviderStopReason) -> Effect {
        hasWaitingStart = false
        return phase == .idle || phase == .stopping ? .nothing : end(nil, telling: reason)
    }

    mutating func interfaceLost() -> Effect {
        phase == .stopping ? .nothing : end(.interfaceLost, telling: .internalError)
    }

    mutating func ready() -> Effect {
        phase = phase == .loading ? .starting : .restarting
        return .started
    }

    /// A start that failed, or a module that cannot be loaded.
    mutating func startFailed(_ error: Refusal) -> Effect {
        switch phase {
        case .loading, .starting: return end(error, telling: nil)
        case .reloading, .restarting: return died()
        default: return .nothing
        }
    }

    mutating func exited() -> Effect {
        switch phase {
        case .loading, .starting: return end(.pluginFailed, telling: nil)
        case .stopping: return ended()
        default: return died()
        }
    }

    mutating func cancelled(_ error: Refusal?) -> Effect {
        if phase == .stopping {
            pending = pending ?? error
            return .nothing
        }
        return end(error, telling: error == nil ? ProviderStopReason.none : .providerFailed)
    }

    /// The worker is gone, and the session with it.
    mutating func ended() -> Effect {
        phase = .idle
        error = pending
        isNoted = false
        guard hasWaitingStart else { return .ended }
        hasWaitingStart = false
        givenSecret = waitingSecret
        launch()
        return .relaunched
    }

    private mutating func launch() {
        phase = .loading
        failures = 0
        pending = nil
        error = nil
        isNoted = true
    }

    private mutating func died() -> Effect {
        failures += 1
        guard failures < Self.failureLimit else { return end(.pluginFailed, telling: nil) }
        phase = .reloading
        return .spawned
    }

    private mutating func end(_ error: Refusal?, telling reason: ProviderStopReason?) -> Effect {
        pending = pending ?? error
        guard let reason, ![.loading, .reloading].contains(phase) else { return ended() }
        phase = .stopping
        return .told(reason)
    }
}
