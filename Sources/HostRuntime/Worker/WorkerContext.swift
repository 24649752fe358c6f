import Dispatch
import ProviderKit
import Synchronization

/// The host as the provider sees it: every call becomes a message to the manager.
final class WorkerContext: ProviderContext {
    let packetFlow: any PacketFlow
    let protocolConfiguration: TunnelProviderProtocol
    let interfaceName: String
    let isOnDemand: Bool
    let stateDirectory: String?
    let inheritsSettings: Bool

    private let channel: WorkerChannel
    private let workerLog: WorkerLog
    /// Completions run here, never on the provider's queue; concurrent, so that one may wait for another.
    private let completionQueue = DispatchQueue(label: "org.providerhost.completion", attributes: .concurrent)
    private let state = Mutex(State())

    private enum Pending {
        case settings(@Sendable ((any Error)?) -> Void)
        case hook(@Sendable ((any Error)?) -> Void)
        case sockets(@Sendable (Result<UDPSockets, any Error>) -> Void)
    }

    private struct State {
        var nextID: UInt64 = 1
        var pending: [UInt64: Pending] = [:]
        var hostNetworks = HostNetworks()
        var shortfalls: [SettingsShortfall] = []
        var observer: (@Sendable () -> Void)?
        var isReasserting = false
        var isCancelled = false
        var isOver = false
    }

    init(configuration: WorkerConfiguration, packetFlow: any PacketFlow, channel: WorkerChannel, log: WorkerLog) {
        self.packetFlow = packetFlow
        protocolConfiguration = configuration.protocolConfiguration
        interfaceName = configuration.interfaceName
        isOnDemand = configuration.isOnDemand
        stateDirectory = configuration.stateDirectory
        inheritsSettings = configuration.mtu != nil
        self.channel = channel
        workerLog = log
    }

    // MARK: From the provider

    var reasserting: Bool {
        get { state.withLock { $0.isReasserting } }
        set {
            // Sent inside the lock, so that the manager sees changes in their order.
            state.withLock { state in
                guard state.isReasserting != newValue else { return }
                state.isReasserting = newValue
                send(.reasserting(newValue))
            }
        }
    }

    func setTunnelNetworkSettings(
        _ settings: PacketTunnelNetworkSettings?, completionHandler: (@Sendable ((any Error)?) -> Void)?
    ) {
        request(.settings(completionHandler ?? { _ in })) { .setSettings(id: $0, settings) }
    }

    func openUDPSockets(
        _ request: UDPSocketRequest, completionHandler: @escaping @Sendable (Result<UDPSockets, any Error>) -> Void
    ) {
        self.request(.sockets(completionHandler)) { .openUDPSockets(id: $0, request) }
    }

    func runHook(_ command: String, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        request(.hook(completionHandler)) { .runHook(id: $0, command) }
    }

    func cancelTunnelWithError(_ error: (any Error)?) {
        let isFirst = state.withLock { state in
            defer { state.isCancelled = true }
            return !state.isCancelled
        }
        if isFirst {
            send(.cancelled(error.map { TunnelFailure($0) }))
        } else {
            log(.warning, "the provider cancelled the tunnel a second time; ignored")
        }
    }

    func log(_ level: LogLevel, _ message: String) { workerLog.write(level, message) }

    var hostNetworks: HostNetworks { state.withLock { $0.hostNetworks } }

    var settingsShortfalls: [SettingsShortfall] { state.withLock { $0.shortfalls } }

    func observeHostNetworks(_ handler: @escaping @Sendable () -> Void) {
        state.withLock { $0.observer = handler }
        send(.observeHostNetworks)
    }

    // MARK: From the manager

    /// Keeps what the machine is connected to now, and tells the provider.
    func hostNetworksChanged(_ networks: HostNetworks) {
        let observer = state.withLock { state in
            state.hostNetworks = networks
            return state.observer
        }
        if let observer { completionQueue.async { observer() } }
    }

    /// Keeps what has no effect of the settings whose completion follows.
    func settingsFellShort(_ shortfalls: [SettingsShortfall]) { state.withLock { $0.shortfalls = shortfalls } }

    /// Completes the settings request `id`.
    func settingsCompleted(id: UInt64, failure: TunnelFailure?) {
        guard case .settings(let handler) = take(id) else { return }
        completionQueue.async { handler(failure.map { Self.settingsError($0) }) }
    }

    /// Completes the hook `id`.
    func hookCompleted(id: UInt64, failure: TunnelFailure?) {
        guard case .hook(let handler) = take(id) else { return }
        completionQueue.async { handler(failure) }
    }

    /// Completes the socket request `id`; descriptors that nobody waits for are closed.
    func socketsOpened(id: UInt64, reply: UDPSocketsReply, descriptors: [Descriptor]) {
        guard case .sockets(let handler) = take(id) else { return }
        switch reply {
        case .failed(let failure): completionQueue.async { handler(.failure(failure)) }
        case .opened(let port, let hasIPv4, let hasIPv6):
            completionQueue.async {
                var numbers = descriptors.map { $0.release() }[...]
                let ipv4 = hasIPv4 ? numbers.popFirst() : nil
                let ipv6 = hasIPv6 ? numbers.popFirst() : nil
                handler(.success(UDPSockets(ipv4: ipv4, ipv6: ipv6, port: port)))
            }
        }
    }

    /// Fails whatever the provider still waits for, and every later request: the manager is gone or the tunnel is over.
    func end() {
        let pending = state.withLock { state in
            state.isOver = true
            defer { state.pending = [:] }
            return state.pending.values.map { $0 }
        }
        for request in pending { fail(request) }
    }

    // MARK: Both

    private func request(_ pending: Pending, _ message: (UInt64) -> WorkerMessage) {
        let id: UInt64? = state.withLock { state in
            guard !state.isOver else { return nil }
            defer { state.nextID += 1 }
            state.pending[state.nextID] = pending
            return state.nextID
        }
        guard let id else { return fail(pending) }
        do {
            try channel.sendWaiting(message(id))
        } catch {
            guard let pending = take(id) else { return }
            log(.error, "the request could not be sent: \(error)")
            fail(pending)
        }
    }

    private func take(_ id: UInt64) -> Pending? { state.withLock { $0.pending.removeValue(forKey: id) } }

    private func fail(_ pending: Pending) {
        let stops = VPNConnectionError(
            .pluginFailed, cause: "The host did not serve the request because the tunnel stops.",
            remedy: "Start the tunnel again.")
        completionQueue.async {
            switch pending {
            case .settings(let handler): handler(TunnelProviderError(.networkSettingsCanceled))
            case .hook(let handler): handler(stops)
            case .sockets(let handler): handler(.failure(stops))
            }
        }
    }

    private func send(_ message: WorkerMessage) {
        do {
            try channel.sendWaiting(message)
        } catch {
            // The channel is over, which the receiving side sees and acts on.
        }
    }

    /// Gives the error its type back, which a provider may compare codes with.
    private static func settingsError(_ failure: TunnelFailure) -> any Error {
        guard failure.errorDomain == TunnelProviderErrorCode.domain,
            let code = TunnelProviderErrorCode(rawValue: failure.errorCode)
        else { return failure }
        return TunnelProviderError(code, cause: failure.cause, remedy: failure.remedy)
    }
}
