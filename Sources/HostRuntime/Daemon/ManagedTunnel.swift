internal import Control
internal import Foundation
internal import ProviderKit

/// What the manager knows of one configuration's session, whether one runs or not.
final class ManagedTunnel {
    /// A session on a thread of its own.
    struct Running {
        let number: UInt64
        let host: TunnelHost
        /// Whether the provider answers `PeerCounters.request`.
        let answersCounters: Bool
        /// What the store keeps beside the configuration, and the mark of its interface's counters.
        let session = UniqueIdentifier()
        var isStopping = false
    }

    let identifier: String
    /// Whose it is, which still counts for what is told after its configuration was removed.
    private(set) var owner: UInt32
    private(set) var application: String
    var state: SessionState { didSet { encoded = nil } }
    private var encoded: [UInt8]?
    var log = TunnelLog()
    var running: Running?
    /// What is to be started once the session that runs has ended; nil drops it.
    var waitingStart: HostConfiguration?
    /// Whether the configuration may be started.
    var isEnabled: Bool
    /// Whether the configuration is gone, and its session ends.
    var isRemoved = false

    init(_ configuration: ManagedConfiguration, service: String) {
        identifier = configuration.key
        owner = configuration.owner
        application = configuration.application
        isEnabled = configuration.content.isEnabled
        state = SessionState(
            identifier: identifier, status: isEnabled ? .disconnected : .invalid, service: service, sequence: 0)
    }

    /// Takes over a configuration that was saved again, also while the session of a removed one is still ending.
    func adopt(_ configuration: ManagedConfiguration) {
        // What a former owner's tunnel logged is none of the new one's business.
        if owner != configuration.owner { log = TunnelLog() }
        owner = configuration.owner
        application = configuration.application
        isRemoved = false
    }

    /// The state as watchers and lists get it, made once for all of them.
    func encodedState() throws(WireError) -> [UInt8] {
        if let encoded { return encoded }
        let bytes = try WireCodec.object(state)
        encoded = bytes
        return bytes
    }

    /// The status of a configuration whose session does not run.
    var idleStatus: VPNStatus { isEnabled ? .disconnected : .invalid }

    /// Takes over a status that the session reports.
    ///
    /// - Returns: Whether anything that others see changed.
    func report(_ status: VPNStatus, interface: String, error: TunnelFailure?) -> Bool {
        let before = state
        state.status = status == .disconnected ? idleStatus : status
        switch status {
        case .disconnected, .invalid:
            state.interface = nil
            state.connectedSince = nil
            state.error = error
        case .connected:
            state.interface = interface
            if state.connectedSince == nil { state.connectedSince = Date.now.timeIntervalSince1970 }
        case .connecting:
            state.error = nil
        case .reasserting, .disconnecting: break
        }
        return state != before
    }
}
