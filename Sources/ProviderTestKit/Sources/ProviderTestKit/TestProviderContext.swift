public import ProviderKit
internal import Synchronization

/// A host without processes: it records what the provider asks for and answers as the test has scripted.
public final class TestProviderContext: ProviderContext {
    /// One line that the provider logged.
    public struct LogLine: Sendable, Equatable {
        public let level: LogLevel
        public let message: String

        /// Makes a line to compare with.
        public init(_ level: LogLevel, _ message: String) {
            self.level = level
            self.message = message
        }
    }

    fileprivate struct State {
        var settingsRequests: [PacketTunnelNetworkSettings?] = []
        var settings: PacketTunnelNetworkSettings?
        var settingsFailures: [any Error] = []
        var waiting: [(PacketTunnelNetworkSettings?, (@Sendable ((any Error)?) -> Void)?)] = []
        var isServing = false
        var reasserting = false
        var reassertingChanges: [Bool] = []
        var cancellations: [(any Error)?] = []
        var log: [LogLine] = []
        var hooks: [String] = []
        var hostNetworks = HostNetworks()
        var shortfalls: [SettingsShortfall] = []
        var observer: (@Sendable () -> Void)?
        var runHook: @Sendable (String) -> (any Error)? = { _ in nil }
        var openSockets: @Sendable (UDPSocketRequest) -> Result<UDPSockets, any Error> = { _ in
            .failure(TunnelProviderError(.networkSettingsFailed, cause: "The test has scripted no UDP sockets."))
        }
    }

    private let state = Mutex(State())

    /// The flow that the provider sees.
    public let flow: InMemoryPacketFlow
    public let protocolConfiguration: TunnelProviderProtocol
    public let interfaceName: String
    public let isOnDemand: Bool
    public let stateDirectory: String?
    public let inheritsSettings: Bool

    /// Makes a host for one provider.
    public init(
        flow: InMemoryPacketFlow = InMemoryPacketFlow(),
        configuration: TunnelProviderProtocol = TunnelProviderProtocol(providerBundleIdentifier: "com.example.tunnel"),
        interfaceName: String = "test0", isOnDemand: Bool = false, stateDirectory: String? = nil,
        inheritsSettings: Bool = false
    ) {
        self.flow = flow
        protocolConfiguration = configuration
        self.interfaceName = interfaceName
        self.isOnDemand = isOnDemand
        self.stateDirectory = stateDirectory
        self.inheritsSettings = inheritsSettings
    }

    // MARK: The test's side

    /// Every settings request in order, nil for one that clears.
    public var settingsRequests: [PacketTunnelNetworkSettings?] { state.withLock { $0.settingsRequests } }

    /// The settings in force: those of the last request that did not fail.
    public var settings: PacketTunnelNetworkSettings? { state.withLock { $0.settings } }

    /// The errors of all the cancels, in order.
    public var cancellations: [(any Error)?] { state.withLock { $0.cancellations } }

    /// Every change of ``reasserting``, in order.
    public var reassertingChanges: [Bool] { state.withLock { $0.reassertingChanges } }

    /// The lines that were logged.
    public var log: [LogLine] { state.withLock { $0.log } }

    /// The commands of the configuration that were to be run, in order; none is run.
    public var hooks: [String] { state.withLock { $0.hooks } }

    /// Makes the next settings requests fail with these errors, one each.
    public func failNextSettings(with errors: any Error...) {
        state.withLock { $0.settingsFailures += errors }
    }

    /// Answers requests for UDP sockets; without this they fail.
    public func serveUDPSockets(_ open: @escaping @Sendable (UDPSocketRequest) -> Result<UDPSockets, any Error>) {
        state.withLock { $0.openSockets = open }
    }

    /// Decides how the commands of the configuration end; without this all of them succeed.
    public func serveHooks(_ run: @escaping @Sendable (String) -> (any Error)?) {
        state.withLock { $0.runHook = run }
    }

    /// Connects the machine to other networks, and tells the provider.
    public func connect(to networks: HostNetworks) {
        let observer = state.withLock { state in
            state.hostNetworks = networks
            return state.observer
        }
        if let observer { Task { observer() } }
    }

    /// Makes the machine one that falls short of the settings in force.
    public func fallShort(_ shortfalls: SettingsShortfall...) {
        state.withLock { $0.shortfalls = shortfalls }
    }

    // MARK: The provider's side

    public var hostNetworks: HostNetworks { state.withLock { $0.hostNetworks } }

    public var settingsShortfalls: [SettingsShortfall] { state.withLock { $0.shortfalls } }

    public func observeHostNetworks(_ handler: @escaping @Sendable () -> Void) {
        state.withLock { $0.observer = handler }
    }

    public var packetFlow: any PacketFlow { flow }

    public var reasserting: Bool {
        get { state.withLock { $0.reasserting } }
        set {
            state.withLock { state in
                guard state.reasserting != newValue else { return }
                state.reasserting = newValue
                state.reassertingChanges.append(newValue)
            }
        }
    }

    public func setTunnelNetworkSettings(
        _ settings: PacketTunnelNetworkSettings?, completionHandler: (@Sendable ((any Error)?) -> Void)?
    ) {
        let mustServe = state.withLock { state in
            state.settingsRequests.append(settings)
            state.waiting.append((settings, completionHandler))
            defer { state.isServing = true }
            return !state.isServing
        }
        // As in the host: in order, one at a time, and never on the caller's thread.
        if mustServe { Task { serveSettings() } }
    }

    public func cancelTunnelWithError(_ error: (any Error)?) {
        state.withLock { $0.cancellations.append(error) }
    }

    public func openUDPSockets(
        _ request: UDPSocketRequest, completionHandler: @escaping @Sendable (Result<UDPSockets, any Error>) -> Void
    ) {
        let open = state.withLock { $0.openSockets }
        Task { completionHandler(open(request)) }
    }

    public func runHook(_ command: String, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        let run = state.withLock { state in
            state.hooks.append(command)
            return state.runHook
        }
        Task { completionHandler(run(command)) }
    }

    public func log(_ level: LogLevel, _ message: String) {
        state.withLock { $0.log.append(LogLine(level, message)) }
    }

    private func serveSettings() {
        while let (error, handler) = state.withLock({ $0.serveNext() }) { handler?(error) }
    }
}

extension TestProviderContext.State {
    /// Applies the next request, or marks the line as idle.
    fileprivate mutating func serveNext() -> ((any Error)?, (@Sendable ((any Error)?) -> Void)?)? {
        guard !waiting.isEmpty else {
            isServing = false
            return nil
        }
        let (wanted, handler) = waiting.removeFirst()
        guard settingsFailures.isEmpty else { return (settingsFailures.removeFirst(), handler) }
        settings = wanted
        return (nil, handler)
    }
}
