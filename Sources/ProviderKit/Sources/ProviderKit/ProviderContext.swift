/// What the host gives a provider: its packets, its configuration and the calls into the host.
///
/// Network Extension has these members on the provider class itself. Every one may be used from any thread.
public protocol ProviderContext: AnyObject, Sendable {
    /// The packets of the virtual interface.
    var packetFlow: any PacketFlow { get }

    /// The configuration that this tunnel was started with.
    var protocolConfiguration: TunnelProviderProtocol { get }

    /// The name of the virtual interface.
    var interfaceName: String { get }

    /// Whether the start came from on-demand rules and not from a caller.
    var isOnDemand: Bool { get }

    /// A directory for files that are to outlive the tunnel, of the provider's bundle alone; nil where there is none.
    ///
    /// All tunnels of the bundle share it, also those that run at the same time. Its path is absolute, and nobody but the
    /// user of the host may read it.
    var stateDirectory: String? { get }

    /// Whether the tunnel is re-establishing itself; has an effect only while it is connected.
    var reasserting: Bool { get set }

    /// Replaces the network settings of the interface as a whole; nil clears them.
    ///
    /// Requests are served one at a time in the order of the calls. The handler runs on a thread of the host, never on
    /// the provider's queue, so a start may block its thread until the settings are in place. After a failure the
    /// earlier settings are still in force.
    ///
    /// - Parameters:
    ///   - settings: All the settings that are wanted, not a difference.
    ///   - completionHandler: Called once; the error is a ``TunnelProviderError``.
    func setTunnelNetworkSettings(
        _ settings: PacketTunnelNetworkSettings?, completionHandler: (@Sendable ((any Error)?) -> Void)?)

    /// Stops the tunnel from within; the error, when there is one, becomes the last disconnect error.
    func cancelTunnelWithError(_ error: (any Error)?)

    /// Opens UDP sockets for the outside of the tunnel: marked by the host, so that they never route into it.
    ///
    /// - Parameters:
    ///   - request: Port and mark that are wanted.
    ///   - completionHandler: Called once on a thread of the host; the caller owns and closes the descriptors.
    func openUDPSockets(
        _ request: UDPSocketRequest, completionHandler: @escaping @Sendable (Result<UDPSockets, any Error>) -> Void)

    /// Runs a shell command of the configuration (`PreUp` and its like) with the rights of the host.
    ///
    /// The host refuses unless it was told to allow hooks, because a configuration file may come from anywhere.
    ///
    /// - Parameters:
    ///   - command: The command, given to `/bin/sh -c`.
    ///   - completionHandler: Called once on a thread of the host: nil when the command exited with 0.
    func runHook(_ command: String, completionHandler: @escaping @Sendable ((any Error)?) -> Void)

    /// Writes one line to the log of the session. Never pass a secret, a key reference or a query.
    func log(_ level: LogLevel, _ message: String)

    /// Whether settings are in force that a provider before this one set, whose process died while the tunnel was up.
    ///
    /// They stay until this provider sets its own: until it knows those, it should leave them, lest traffic goes round the
    /// tunnel meanwhile.
    var inheritsSettings: Bool { get }

    /// What the machine is connected to beside the tunnel; known from the first call into the provider on.
    var hostNetworks: HostNetworks { get }

    /// Has `handler` called on a thread of the host after every change of ``hostNetworks``, in place of an earlier handler.
    func observeHostNetworks(_ handler: @escaping @Sendable () -> Void)

    /// What of the settings in force this machine cannot give its effect; known when their completion handler is called.
    var settingsShortfalls: [SettingsShortfall] { get }
}

extension ProviderContext {
    /// Replaces the network settings of the interface as a whole and returns when they are in force.
    public func setTunnelNetworkSettings(_ settings: PacketTunnelNetworkSettings?) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            setTunnelNetworkSettings(settings) { error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
    }

    /// Runs a shell command of the configuration and returns when it has exited with 0.
    public func runHook(_ command: String) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            runHook(command) { error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
    }

    /// Opens UDP sockets for the outside of the tunnel.
    public func openUDPSockets(_ request: UDPSocketRequest) async throws -> UDPSockets {
        try await withCheckedThrowingContinuation { continuation in
            openUDPSockets(request) { continuation.resume(with: $0) }
        }
    }
}

/// How much a line of the log matters.
public enum LogLevel: Int, Sendable, Codable, Comparable, CaseIterable {
    case error = 0
    case warning = 1
    case info = 2
    case debug = 3

    public static func < (lower: LogLevel, upper: LogLevel) -> Bool { lower.rawValue < upper.rawValue }
}

/// The UDP sockets that a provider asks the host for.
public struct UDPSocketRequest: Sendable, Codable, Equatable {
    /// The local port, the same for both families; 0 for one that is free.
    public var port: UInt16
    /// The mark (SO_MARK) of the sockets; nil for the mark of the session, which the policy routes keep out of the tunnel.
    public var mark: UInt32?

    /// Asks for sockets on `port` with `mark`.
    public init(port: UInt16, mark: UInt32?) {
        self.port = port
        self.mark = mark
    }
}

/// Bound, marked UDP sockets, one per address family; at least one is there.
public struct UDPSockets: Sendable {
    /// The IPv4 socket, nil where the system has no IPv4.
    public let ipv4: Int32?
    /// The IPv6 socket (IPV6_V6ONLY), nil where the system has no IPv6.
    public let ipv6: Int32?
    /// The local port of both.
    public let port: UInt16

    /// Wraps descriptors that the caller has bound to `port`.
    public init(ipv4: Int32?, ipv6: Int32?, port: UInt16) {
        self.ipv4 = ipv4
        self.ipv6 = ipv6
        self.port = port
    }
}
