import PacketPath
public import ProviderKit
import SettingsPush
import Synchronization
import WireGuard

/// `org.providerhost.wireguard`: a WireGuard tunnel as a wg-quick file describes it.
public actor WireGuardProvider: AsyncPacketTunnelProvider {
    /// A tunnel that runs.
    private struct Running {
        let engine: Engine
        let sockets: OuterSockets
        let service: ControlService
        /// What follows an interface that others take up and down; nil for one that the host keeps.
        let watch: LinkWatch?
        /// What the tunnel was started with, nil if others configure it.
        let configuration: Configuration?
        /// The client of a gateway, nil if the profile alone decides.
        let client: PushClient.Handle?
    }

    private let context: any ProviderContext
    private let role: TunnelRole?
    private var running: Running?
    /// Set by the first stop: a start that is still on its way gives up.
    private var isStopping = false

    /// Makes a provider that has done nothing yet.
    public init(context: any ProviderContext) {
        self.context = context
        role = nil
    }

    /// Makes the tunnel of another provider, which has done nothing yet.
    public init(context: any ProviderContext, role: TunnelRole) {
        self.context = context
        self.role = role
    }

    public func startTunnel(options: [String: PropertyListValue]?) async throws {
        let values = context.protocolConfiguration.providerConfiguration
        if values[TunnelProviderProtocol.followsInterfaceKey]?.booleanValue ?? false { return try startFollowing() }
        let (configuration, profile) = try readConfiguration()
        try await run(.preUp, of: configuration)
        let engine = try await makeEngine(configuration)
        do {
            let endpoints = try await resolveEndpoints(of: configuration, engine.exchange.sockets)
            try goOn()
            if let profile {
                try await start(engine, profile, endpoints)
            } else {
                try await start(engine, configuration, endpoints)
            }
            try await run(.postUp, of: configuration)
        } catch {
            engine.stop()
            running?.watch?.stop()
            running?.client?.abandon()
            running = nil
            throw error
        }
        context.log(.info, "WireGuard runs: \(configuration), \(engine.summary)")
    }

    public func stopTunnel(with reason: ProviderStopReason) async {
        isStopping = true
        guard let running else { return }
        if let configuration = running.configuration { try? await run(.preDown, of: configuration) }
        await running.client?.stop()
        running.engine.stop()
        running.watch?.stop()
        self.running = nil
        logDrops(of: running.engine)
        if let configuration = running.configuration { try? await run(.postDown, of: configuration) }
    }

    /// A message of one zero byte is answered with the running configuration, as WireGuard's own provider answers it;
    /// `get=settings` and `get=view` with an empty line behind are answered as on the control socket.
    public func handleAppMessage(_ messageData: [UInt8]) async -> [UInt8]? {
        guard let service = running?.service else { return nil }
        switch messageData {
        case [0]: return await onThread { Array(service.describe().utf8) }
        case PeerCounters.request: return await onThread { PeerCounters.reply(service.counters()) }
        default: return await onThread { service.reply(to: messageData).map { Array($0.utf8) } }
        }
    }

    /// The result of `body`, nil when the system gives no thread; the control loop, which it asks, may take its time.
    private func onThread(_ body: @escaping @Sendable () -> [UInt8]?) async -> [UInt8]? {
        await withCheckedContinuation { continuation in
            do {
                try DataThread("wg-describe") { continuation.resume(returning: body()) }.detach()
            } catch {
                continuation.resume(returning: nil)
            }
        }
    }

    public func handleControlConnection(_ connection: ControlConnection) async {
        guard let service = running?.service else { return connection.close() }
        do {
            try service.serve(connection)
        } catch {
            context.log(.warning, "A connection to the control socket is refused: \(error)")
            connection.close()
        }
    }

    // MARK: Start

    private func goOn() throws {
        if isStopping { throw EngineError.stopped }
    }

    /// Starts with the settings of the profile, or of the role.
    private func start(
        _ engine: Engine, _ configuration: Configuration, _ endpoints: [PublicKey: Endpoint]
    ) async throws {
        let label = configuration.peers.compactMap { $0.endpoint?.description }.first ?? "unspecified"
        let settings = role?.settings ?? TunnelSettings.make(from: configuration, remoteAddress: label)
        try await context.setTunnelNetworkSettings(settings)
        try goOn()
        if let role {
            let plane = try role.makeControlPlane(ControlPlaneWaker { engine.wakeControlPlane() })
            try engine.start(ControlSettings(configuration), endpoints: endpoints, isUp: true, plane: plane)
        } else {
            try engine.start(
                ControlSettings(configuration), endpoints: endpoints, isUp: true, names: names(of: configuration))
        }
        let file = context.protocolConfiguration.providerConfiguration[TunnelProviderProtocol.configurationFileKey]
        // What a role has in force is the role's to tell.
        var tell: (@Sendable () -> SettingsReport)?
        if role == nil {
            tell = { [context] in
                SettingsReport(configuration, file: file?.stringValue, shortfalls: context.settingsShortfalls)
            }
        }
        running = try makeRunning(engine, configuration, report: tell)
    }

    /// Starts with what a gateway says, and returns when that is in force.
    private func start(_ engine: Engine, _ profile: PushProfile, _ endpoints: [PublicKey: Endpoint]) async throws {
        // The interface comes up with nothing, so that what the host guards is guarded before the first handshake. What an
        // earlier worker has set stays: without its routes traffic would go round the tunnel until the gateway answers.
        if !context.inheritsSettings {
            try await context.setTunnelNetworkSettings(profile.networkSettings(for: .bare))
        }
        try goOn()
        let client = PushClient.Handle(ControlPlaneWaker { engine.wakeControlPlane() })
        let plane = PushClient(
            profile, context, client, endpoint: endpoints[profile.gateway.publicKey],
            seed: UInt64.random(in: 0...UInt64.max))
        try engine.start(
            ControlSettings(profile.configuration), endpoints: endpoints, isUp: true, plane: plane,
            names: names(of: profile.configuration))
        running = try makeRunning(engine, profile.configuration, client) { [context] in
            profile.report(client.account.withLock { $0 }, shortfalls: context.settingsShortfalls)
        }
        try await client.started.wait()
        try goOn()
    }

    private func names(of configuration: Configuration) -> EndpointNames {
        EndpointNames(configuration, context, mark: configuration.mark)
    }

    /// Starts without a configuration, on an interface that others take up and down.
    private func startFollowing() throws {
        try goOn()
        let options = try pathOptions(nil)
        do {
            let engine = try makeEngine(.none, mtu: nil, options)
            try engine.start(ControlSettings(), endpoints: [:], isUp: false)
            running = try makeRunning(engine, nil)
            context.log(.info, "WireGuard runs, \(engine.summary)")
        } catch let error as PathError {
            throw EngineError.path(error.description)
        }
    }

    private func makeRunning(
        _ engine: Engine, _ configuration: Configuration?, _ client: PushClient.Handle? = nil,
        report: (@Sendable () -> SettingsReport)? = nil
    ) throws(PathError) -> Running {
        let sockets = OuterSockets(engine, context, mark: configuration?.mark, isUp: configuration != nil)
        let watch = configuration == nil ? try LinkWatch(engine, sockets) : nil
        return Running(
            engine: engine, sockets: sockets, service: ControlService(engine, sockets, report: report),
            watch: watch, configuration: configuration, client: client)
    }

    private func readConfiguration() throws -> (Configuration, PushProfile?) {
        let values = context.protocolConfiguration.providerConfiguration
        let given = role?.configurationText ?? values[TunnelProviderProtocol.configurationTextKey]?.stringValue
        guard let text = given else {
            throw EngineError.configuration(
                "There is no configuration: a WireGuard tunnel needs a wg-quick file (--config).")
        }
        let file = values[TunnelProviderProtocol.configurationFileKey]?.stringValue ?? "configuration"
        let configuration: Configuration
        do {
            configuration = try Configuration(wgQuick: text)
        } catch {
            throw EngineError.configuration(error.description(file: file))
        }
        let allowsHooks = values[TunnelProviderProtocol.allowHooksKey]?.booleanValue ?? false
        if let hook = configuration.interface.hooks.first, !allowsHooks {
            throw EngineError.hooksRefused(file: file, line: hook.line, hook: hook.moment.rawValue)
        }
        // The settings of a role are its own affair.
        guard role == nil else { return (configuration, nil) }
        return (configuration, try PushProfile(configuration, text: text, context.protocolConfiguration))
    }

    private func makeEngine(_ configuration: Configuration) async throws -> Engine {
        let options = try pathOptions(configuration)
        let request = UDPSocketRequest(port: configuration.interface.listenPort, mark: configuration.mark)
        let opened = try await context.openUDPSockets(request)
        do {
            return try makeEngine(OuterSockets.adopt(opened, options), mtu: configuration.interface.mtu, options)
        } catch let error as PathError {
            throw EngineError.path(error.description)
        }
    }

    private func pathOptions(_ configuration: Configuration?) throws(EngineError) -> PathOptions {
        try PathOptions(
            environment: Environment.value, configuration, context.protocolConfiguration.providerConfiguration)
    }

    private func makeEngine(_ sockets: Sockets, mtu: Int?, _ options: PathOptions) throws -> Engine {
        let tun = try TUNDevice(
            adopting: Environment.duplicate(context.packetFlow.takeDescriptor().fileDescriptor), options: options)
        let timestamps = TimestampRecord(directory: context.stateDirectory) { [context] in context.log($0, $1) }
        return try Engine(
            tun: tun, sockets: sockets, mtu: mtu ?? tun.mtu ?? 1420, options: options, timestamps: timestamps
        ) { [context] in context.cancelTunnelWithError(EngineError.interfaceGone) }
    }

    /// Resolves every peer's endpoint, on a thread that may block for as long as the resolvers do.
    private func resolveEndpoints(of configuration: Configuration, _ sockets: Sockets) async throws -> [PublicKey:
        Endpoint]
    {
        let (ipv4, ipv6) = (sockets.ipv4 != nil, sockets.ipv6 != nil)
        let isGuarded = context.protocolConfiguration.common.includeAllNetworks
        let opened =
            configuration.hasNames
            ? try await context.openUDPSockets(UDPSocketRequest(port: 0, mark: configuration.mark))
            : UDPSockets(ipv4: nil, ipv6: nil, port: 0)
        return try await withCheckedThrowingContinuation { continuation in
            do {
                _ = try DataThread("wg-resolve") {
                    continuation.resume(
                        with: Result {
                            let outside = OutsideResolver(opened, except: configuration.interface.dnsServers)
                            var endpoints: [PublicKey: Endpoint] = [:]
                            for peer in configuration.peers {
                                guard let endpoint = peer.endpoint else { continue }
                                endpoints[peer.publicKey] = try EndpointResolver.resolve(
                                    endpoint, ipv4: ipv4, ipv6: ipv6, outside: outside, isGuarded: isGuarded
                                ).first
                            }
                            return endpoints
                        })
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    private func run(_ moment: Configuration.Hook.Moment, of configuration: Configuration) async throws {
        for hook in configuration.interface.hooks where hook.moment == moment {
            try await context.runHook(hook.command.replacing("%i", with: context.interfaceName))
        }
    }

    private func logDrops(of engine: Engine) {
        let drops = engine.statistics.withLock(\.drops)
        let counted = WireGuard.DropReason.allCases.filter { drops[$0] > 0 }.map { "\($0) \(drops[$0])" }
        if !counted.isEmpty { context.log(.info, "Dropped packets: \(counted.joined(separator: ", "))") }
    }
}

extension Configuration {
    /// Whether the endpoint of any peer has to be resolved.
    fileprivate var hasNames: Bool {
        peers.contains { if case .name? = $0.endpoint { true } else { false } }
    }

    /// The mark that the sockets are to have, nil for the host's own.
    fileprivate var mark: UInt32? { interface.firewallMark == 0 ? nil : interface.firewallMark }
}

extension Engine {
    /// The cipher and what is switched off, for the log.
    fileprivate var summary: String {
        let switchedOff = options.switchedOff
        return "cipher \(backend.name)"
            + (switchedOff.isEmpty ? "" : ", without \(switchedOff.joined(separator: ", "))")
    }
}
