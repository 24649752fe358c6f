internal import Dispatch
public import Foundation
public import ProviderKit

/// The session of a configuration (Network Extension's `NETunnelProviderSession`).
///
/// Its status is what the manager of the machine says: also of a tunnel that no call of this application started.
public final class TunnelProviderSession: Sendable {
    private let slot: ConfigurationSlot

    init(_ slot: ConfigurationSlot) { self.slot = slot }

    /// The manager of the configuration; nil once the application has let go of it.
    public var manager: TunnelProviderManager? { slot.manager }

    /// The status; ``VPNStatus/invalid`` before the first load.
    public var status: VPNStatus { slot.status }

    /// When the tunnel came up; stays while it reasserts, nil while it is down.
    public var connectedDate: Date? { slot.connectedDate }

    /// The virtual interface; nil while there is none.
    public var interfaceName: String? { slot.session?.interface }

    /// The changes of ``status`` from now on; the manager must have been loaded.
    public var statusChanges: AsyncStream<VPNStatus> { slot.statusChanges }

    /// Starts the tunnel: returns when the start was accepted, never when the tunnel is up.
    ///
    /// What goes wrong later is a change of the status to disconnected, and the error of ``fetchLastDisconnectError()``.
    ///
    /// - Parameter options: Given to the provider as they are.
    /// - Throws: ``VPNError``; configurationInvalid for one that was not saved or names no installed provider,
    ///   configurationStale for one that was saved since it was loaded, configurationDisabled; and what
    ///   `ProviderHostSessionErrorDomain` says of a session that is active.
    public func startVPNTunnel(options: [String: PropertyListValue]? = nil) throws {
        try slot.start(options: options)
    }

    /// Stops the tunnel: returns at once, and does nothing for a tunnel that is down.
    public func stopVPNTunnel() { slot.stop() }

    /// Sends a message to the provider of a tunnel that is not down, and returns its reply, nil for none.
    ///
    /// - Throws: ``VPNError`` as for a start; the manager's error when the tunnel is down or the message over 1 MiB.
    public func sendProviderMessage(_ messageData: [UInt8]) async throws -> [UInt8]? {
        let request = ManagerMessages.Message(identifier: try slot.startableConfiguration().key, message: messageData)
        return try await ConfigurationSlot.mapped {
            try await slot.client.call(.sendMessage, request, reply: ManagerMessages.MessageReply.self)
        }
        .bytes
    }

    /// Sends a message to the provider; the handler is called once, with nil also when the message did not arrive.
    ///
    /// - Throws: ``VPNError`` for a configuration that is not saved, not loaded or disabled.
    public func sendProviderMessage(
        _ messageData: [UInt8], responseHandler: (@Sendable ([UInt8]?) -> Void)?
    ) throws {
        let configuration = try slot.startableConfiguration()
        guard configuration.content.isEnabled else { throw VPNError(.configurationDisabled) }
        let request = ManagerMessages.Message(identifier: configuration.key, message: messageData)
        let client = slot.client
        DispatchQueue.global().async {
            let reply = try? client.call(.sendMessage, request, reply: ManagerMessages.MessageReply.self)
            responseHandler?(reply?.bytes)
        }
    }

    /// Throws the error of the last disconnect; returns when there was none.
    public func fetchLastDisconnectError() async throws {
        try await slot.fetchLastDisconnectError()
    }

    /// The counters of the interface.
    ///
    /// - Throws: The manager's error when the tunnel is down.
    public func counters() async throws -> Counters {
        let request = ManagerMessages.Identifier(identifier: slot.identifier)
        return try await ConfigurationSlot.mapped {
            try await slot.client.call(.counters, request, reply: ManagerMessages.CountersReply.self)
        }
        .counters
    }

    /// What the on-demand rules came to, when, and in what network.
    public func onDemandState() async throws -> OnDemandState {
        let request = ManagerMessages.Identifier(identifier: slot.identifier)
        return try await ConfigurationSlot.mapped {
            try await slot.client.call(.explain, request, reply: ManagerMessages.Explanation.self)
        }
        .onDemand
    }

    /// Finds out by the on-demand rules whether a connection to a host needs the tunnel, and starts it then.
    ///
    /// Linux tells nobody of a connection before it is made, so that rules which look at hosts are evaluated when somebody
    /// asks.
    ///
    /// - Parameter host: The name of the host.
    /// - Returns: The answer, and why; after up to some seconds.
    /// - Throws: The manager's error where the tunnel is needed and cannot be started.
    public func evaluateConnection(to host: String) async throws -> ManagerMessages.Verdict {
        let request = ManagerMessages.Destination(identifier: slot.identifier, host: host)
        return try await ConfigurationSlot.mapped {
            try await slot.client.call(.evaluateConnection, request, reply: ManagerMessages.Verdict.self)
        }
    }

    /// The last lines of the log.
    public func log() async throws -> [LogLine] {
        let request = ManagerMessages.Identifier(identifier: slot.identifier)
        return try await ConfigurationSlot.mapped {
            try await slot.client.call(.log, request, reply: ManagerMessages.Lines.self)
        }
        .lines
    }

    /// The lines of the log from now on; ends when the manager does.
    public func logLines() throws -> AsyncStream<LogLine> {
        let request = ManagerMessages.Identifier(identifier: slot.identifier)
        return try ConfigurationSlot.mapped {
            try slot.client.stream(.log, request, reply: ManagerMessages.Lines.self) { $0.lines }
        }
    }
}
