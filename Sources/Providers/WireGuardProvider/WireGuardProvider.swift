import PacketPath
public import ProviderKit
import Synchronization
import WireGuard

/// `org.providerhost.wireguard`: a WireGuard tunnel as a wg-quick file describes it.
public actor WireGuardProvider: AsyncPacketTunnelProvider {
    private let context: any ProviderContext
    private var engine: Engine?
    private var configuration: Configuration?
    /// Set by the first stop: a start that is still on its way gives up.
    private var isStopping = false

    /// Makes a provider that has done nothing yet.
    public init(context: any ProviderContext) {
        self.context = context
    }

    public func startTunnel(options: [String: PropertyListValue]?) async throws {
        let configuration = try readConfiguration()
        try await run(.preUp, of: configuration)
        let engine = try await makeEngine(configuration)
        do {
            let endpoints = try await resolveEndpoints(of: configuration, engine.sockets)
            try goOn()
            let label = configuration.peers.compactMap { $0.endpoint?.description }.first ?? "unspecified"
            try await context.setTunnelNetworkSettings(TunnelSettings.make(from: configuration, remoteAddress: label))
            try goOn()
            try engine.start(configuration, endpoints: endpoints)
            self.engine = engine
            self.configuration = configuration
            try await run(.postUp, of: configuration)
        } catch {
            engine.stop()
            self.engine = nil
            throw error
        }
        context.log(.info, "WireGuard runs: \(configuration), cipher \(engine.backend.name)")
    }

    public func stopTunnel(with reason: ProviderStopReason) async {
        isStopping = true
        guard let engine, let configuration else { return }
        try? await run(.preDown, of: configuration)
        engine.stop()
        self.engine = nil
        logDrops(of: engine)
        try? await run(.postDown, of: configuration)
    }

    /// A message of one zero byte is answered with the running configuration, as WireGuard's own provider answers it.
    public func handleAppMessage(_ messageData: [UInt8]) async -> [UInt8]? {
        guard messageData == [0], let engine else { return nil }
        let text = await withCheckedContinuation { continuation in
            engine.ask { continuation.resume(returning: $0) }
        }
        return Array(text.utf8)
    }

    // MARK: Start

    private func goOn() throws {
        if isStopping { throw EngineError.stopped }
    }

    private func readConfiguration() throws -> Configuration {
        let values = context.protocolConfiguration.providerConfiguration
        guard let text = values[TunnelProviderProtocol.configurationTextKey]?.stringValue else {
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
        return configuration
    }

    private func makeEngine(_ configuration: Configuration) async throws -> Engine {
        let interface = configuration.interface
        let mark = interface.firewallMark == 0 ? nil : interface.firewallMark
        let opened = try await context.openUDPSockets(UDPSocketRequest(port: interface.listenPort, mark: mark))
        let options = PathOptions(environment: Environment.value)
        var socketOptions = UDPSocket.Options()
        socketOptions.receiveOffload = options.udpGRO
        do {
            let sockets = try Sockets(
                ipv4: opened.ipv4.map { try UDPSocket(adopting: $0, options: socketOptions) },
                ipv6: opened.ipv6.map { try UDPSocket(adopting: $0, options: socketOptions) })
            let tun = try TUNDevice(
                adopting: Environment.duplicate(context.packetFlow.takeDescriptor().fileDescriptor), options: options)
            return try Engine(tun: tun, sockets: sockets, mtu: interface.mtu ?? 1420, options: options)
        } catch let error as PathError {
            throw EngineError.path(error.description)
        }
    }

    /// Resolves every peer's endpoint, on a thread that may block for as long as the resolver does.
    private func resolveEndpoints(of configuration: Configuration, _ sockets: Sockets) async throws -> [PublicKey:
        Endpoint]
    {
        let (ipv4, ipv6) = (sockets.ipv4 != nil, sockets.ipv6 != nil)
        return try await withCheckedThrowingContinuation { continuation in
            do {
                _ = try DataThread("wg-resolve") {
                    continuation.resume(
                        with: Result {
                            var endpoints: [PublicKey: Endpoint] = [:]
                            for peer in configuration.peers {
                                guard let endpoint = peer.endpoint else { continue }
                                endpoints[peer.publicKey] = try EndpointResolver.resolve(
                                    endpoint, ipv4: ipv4, ipv6: ipv6)
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
