public import ProviderKit

/// What happens to a session, except its start (``SessionMachine/start(options:isOnDemand:at:)``).
///
/// Events that carry news of the worker come from another process: every one is legal in every state, and one that makes
/// no sense there is logged and changes nothing.
public enum SessionEvent: Sendable, Equatable {
    /// The outcome of ``SessionAction/createInterface``.
    case interfaceCreated(failure: TunnelFailure?)
    /// Somebody else deleted the interface of this name.
    case interfaceLost(name: String)
    /// The outcome of ``SessionAction/tearDown``.
    case tornDown(failure: TunnelFailure?)

    /// The worker has loaded the module.
    case workerReady
    /// The worker cannot serve the module: another stamp, a missing symbol, a missing file.
    case workerFailed(TunnelFailure)
    /// The worker process ended, or could not be made.
    case workerExited(WorkerExit)

    /// The provider completed `startTunnel`.
    case startCompleted(failure: TunnelFailure?)
    /// The provider completed `stopTunnel`.
    case stopCompleted
    /// The provider called `cancelTunnelWithError`.
    case cancelled(failure: TunnelFailure?)
    /// The provider set `reasserting`.
    case reasserting(Bool)

    /// The provider called `setTunnelNetworkSettings`; `id` is the driver's and never used twice.
    case settingsRequested(id: UInt64, PacketTunnelNetworkSettings?)
    /// The outcome of ``SessionAction/applySettings(id:_:)``.
    case settingsApplied(id: UInt64, failure: TunnelFailure?)

    /// Somebody wants the session to stop.
    case stopRequested(ProviderStopReason)
    /// The stored configuration was enabled, disabled or removed.
    case configurationChanged(ConfigurationState)

    /// The app sent a message; `id` is the driver's and never used twice.
    case message(id: UInt64, [UInt8], wantsReply: Bool)
    /// The provider answered a message, or has no answer.
    case messageReply(id: UInt64, [UInt8]?)

    /// The machine is about to sleep and waits for ``SessionAction/allowSleep``.
    case sleep
    /// The provider is ready for sleep.
    case sleepCompleted
    /// The machine woke.
    case wake

    /// ``SessionMachine/nextDeadline`` may have passed.
    case deadline
}

/// Whether the configuration of a session may be started.
public enum ConfigurationState: Sendable, Equatable {
    case enabled
    case disabled
    case removed
}

/// How a worker process ended.
public enum WorkerExit: Sendable, Equatable, CustomStringConvertible {
    /// It called exit with this status.
    case exited(Int32)
    /// A signal killed it.
    case killed(signal: Int32)
    /// It could not be made.
    case notStarted(TunnelFailure)

    public var description: String {
        switch self {
        case .exited(let status): "exit status \(status)"
        case .killed(let signal): "killed by signal \(signal)"
        case .notStarted(let failure): failure.cause
        }
    }
}
