import GatewayRegistry
import PacketPath
public import ProviderKit
import WireGuard
import WireGuardProvider

/// `org.providerhost.gateway`: a WireGuard tunnel whose peers are those of the registry, and which pushes settings to them.
public actor GatewayProvider: AsyncPacketTunnelProvider {
    /// A gateway that runs.
    private struct Running {
        let tunnel: WireGuardProvider
        let keeper: RegistryKeeper
    }

    private let context: any ProviderContext
    private var running: Running?

    /// Makes a provider that has done nothing yet.
    public init(context: any ProviderContext) {
        self.context = context
    }

    public func startTunnel(options: [String: PropertyListValue]?) async throws {
        let values = context.protocolConfiguration.providerConfiguration
        guard values[TunnelProviderProtocol.configurationTextKey] == nil else {
            throw GatewayStartError.configurationGiven
        }
        // The registry is read as a whole with every change: megabytes, where there are many peers.
        ProcessMemory.giveLargePiecesBack()
        let book = try RegistryBook(folder: StateFolder.current, now: WallClock.seconds)
        let contents = book.contents
        let keeper = try RegistryKeeper { [context] in context.log($0, $1) }
        let owned = Handover(book)
        let tunnel = WireGuardProvider(context: context, role: makeRole(contents, keeper, owned))
        // A stop during the start is for both.
        running = Running(tunnel: tunnel, keeper: keeper)
        do {
            try await tunnel.startTunnel(options: options)
        } catch {
            keeper.stop()
            running = nil
            throw error
        }
        let count = contents.peers.count
        context.log(
            .info, "The gateway serves \(count) peer\(count == 1 ? "" : "s") on port \(contents.gateway.listenPort)")
    }

    public func stopTunnel(with reason: ProviderStopReason) async {
        guard let running else { return }
        await running.tunnel.stopTunnel(with: reason)
        // After the last message of a client.
        running.keeper.stop()
        self.running = nil
    }

    public func handleAppMessage(_ messageData: [UInt8]) async -> [UInt8]? {
        await running?.tunnel.handleAppMessage(messageData)
    }

    public func handleControlConnection(_ connection: ControlConnection) async {
        guard let running else { return connection.close() }
        await running.tunnel.handleControlConnection(connection)
    }

    private func makeRole(
        _ contents: RegistryContents, _ keeper: RegistryKeeper, _ book: Handover<RegistryBook>
    ) -> TunnelRole {
        TunnelRole(
            configurationText: contents.gateway.tunnelText,
            settings: PacketTunnelNetworkSettings(gateway: contents)
        ) { [context] waker in
            guard let book = book.take() else { preconditionFailure("a tunnel makes one control plane") }
            // From the book, not from outside: what this closure holds stays as long as the tunnel.
            let ledger = GatewayLedger(book.contents) { WallClock.seconds }
            try keeper.start(book) { waker.wake() }
            let host = GatewayHost(
                put: { keeper.put($0) }, takeContents: { keeper.takeContents() },
                setNetwork: { settings in
                    context.setTunnelNetworkSettings(settings) { error in
                        if let error { context.log(.error, "The gateway's own settings stay as they were: \(error)") }
                    }
                },
                log: { context.log($0, $1) })
            return GatewayPlane(ledger, seed: UInt64.random(in: 0...UInt64.max), host: host)
        }
    }
}

extension Gateway {
    /// The gateway's own part of a wg-quick file; the peers come from the registry while it runs.
    fileprivate var tunnelText: String {
        """
        [Interface]
        PrivateKey = \(privateKey.base64)
        ListenPort = \(listenPort)
        MTU = \(mtu)

        """
    }
}
