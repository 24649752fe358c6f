public import ProviderKit

/// What the driver has to do, in the order of the list.
public enum SessionAction: Sendable, Equatable {
    /// Create the virtual interface and answer with ``SessionEvent/interfaceCreated(failure:)``.
    case createInterface
    /// Undo the settings, delete the interface if it is still there, and answer with ``SessionEvent/tornDown(failure:)``.
    case tearDown

    /// Make a worker process; its end or failure to start is ``SessionEvent/workerExited(_:)``.
    case spawnWorker
    /// Kill the worker process (by pidfd).
    case terminateWorker

    /// Have the provider called with `startTunnel`.
    case startProvider(options: [String: PropertyListValue]?, isOnDemand: Bool)
    /// Have the provider called with `stopTunnel`.
    case stopProvider(ProviderStopReason)
    /// Have the provider called with `sleep`.
    case sleepProvider
    /// Have the provider called with `wake`.
    case wakeProvider
    /// Have the provider called with `handleAppMessage`.
    case deliverMessage(id: UInt64, [UInt8], wantsReply: Bool)

    /// Replace the network settings (nil clears them) and answer with ``SessionEvent/settingsApplied(id:failure:)``.
    case applySettings(id: UInt64, PacketTunnelNetworkSettings?)
    /// Tell the provider the outcome of its settings; to be dropped when the worker that asked is gone.
    case completeSettings(id: UInt64, failure: TunnelFailure?)

    /// Tell everybody the new status; `error` is the reason of a disconnect.
    case publish(VPNStatus, error: TunnelFailure?)
    /// Give the app the reply to its message, or none.
    case replyMessage(id: UInt64, [UInt8]?)
    /// Tell the app that its message is not delivered.
    case refuseMessage(id: UInt64, TunnelFailure)
    /// Let the machine sleep.
    case allowSleep

    /// Write a line to the session's log.
    case log(LogLevel, String)
}
