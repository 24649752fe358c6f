public import Foundation
public import ProviderKit

/// The session of the personal VPN (Network Extension's `NEVPNConnection`).
public final class VPNConnection: Sendable {
    private let slot: ConfigurationSlot

    init(_ slot: ConfigurationSlot) { self.slot = slot }

    /// The status; ``VPNStatus/invalid`` before the first load.
    public var status: VPNStatus { slot.status }

    /// When the VPN came up; nil while it is down.
    public var connectedDate: Date? { slot.connectedDate }

    /// The changes of ``status`` from now on; the manager must have been loaded.
    public var statusChanges: AsyncStream<VPNStatus> { slot.statusChanges }

    /// Starts the VPN: returns when the start was accepted.
    ///
    /// - Throws: ``VPNError``; configurationInvalid also where nothing on this machine serves the protocol.
    public func startVPNTunnel(options: [String: PropertyListValue]? = nil) throws {
        try slot.start(options: options)
    }

    /// Stops the VPN: returns at once.
    public func stopVPNTunnel() { slot.stop() }

    /// Throws the error of the last disconnect; returns when there was none.
    public func fetchLastDisconnectError() async throws { try await slot.fetchLastDisconnectError() }
}
