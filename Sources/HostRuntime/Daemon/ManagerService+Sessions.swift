internal import Control
internal import Netlink
internal import NetworkSettings
internal import ProviderKit
internal import Session

/// Sessions: started, stopped, asked.
extension ManagerService {
    func perform(
        _ method: ManagerMethod, _ call: IncomingCall, _ access: Access, _ connection: ServerConnection
    ) throws -> ControlServer.Outcome {
        switch method {
        case .list: return .reply(try list(call, access))
        case .get: return .reply(try get(access))
        case .save: return .reply(try save(call, access))
        case .remove: return .reply(try remove(call, access))
        case .start: return .reply(try start(call, access))
        case .stop: return .reply(try stop(access))
        case .watch: return try watch(call, access)
        case .sendMessage: return try sendMessage(call, access, connection)
        case .fetchLastDisconnectError:
            return .reply(try WireCodec.reply(ManagerMessages.LastError(error: try tunnel(access).state.error)))
        case .counters: return try counters(access, connection)
        case .log: return try log(call, access)
        case .explain: return .reply(try WireCodec.reply(ManagerMessages.Explanation(onDemand: explanation(access))))
        case .evaluateConnection: return try evaluateConnection(call, access, connection)
        case .addItem, .copyMatching, .updateItems, .deleteItems, .unlockKeychain, .lockKeychain,
            .changeKeychainPassphrase:
            return try performKeychain(method, call, access, connection)
        }
    }

    /// Starts a tunnel: everything that can be refused is refused here, before any line of a provider.
    private func start(_ call: IncomingCall, _ access: Access) throws -> [UInt8] {
        let request = try call.parameters(as: ManagerMessages.Start.self)
        let configuration = try subject(access)
        guard request.generation ?? configuration.content.generation == configuration.content.generation else {
            throw VPNError(
                .configurationStale, cause: "The configuration was saved again since it was loaded.",
                remedy: "Load it, and start again.")
        }
        try sessions.start(
            configuration.key, try hostConfiguration(configuration, options: request.options, isOnDemand: false))
        return try WireCodec.reply(NoParameters())
    }

    /// What a start of the configuration needs.
    func hostConfiguration(
        _ configuration: ManagedConfiguration, options: [String: PropertyListValue]?, isOnDemand: Bool
    ) throws -> HostConfiguration {
        guard configuration.content.isEnabled else {
            throw VPNError(
                .configurationDisabled, cause: "The configuration \(configuration.label) is disabled.",
                remedy: "Enable it and save it: providerhost profile enable \(configuration.label)")
        }
        guard let provider = configuration.tunnelProvider else {
            throw VPNError(
                .configurationInvalid,
                cause: "No provider of this machine serves the protocol of \(configuration.label).",
                remedy: "Save a tunnel provider configuration.")
        }
        _ = try Isolation(provider)
        let bundle: ProviderBundle
        do throws(BundleError) {
            bundle = try BundleIndex().bundle(provider.providerBundleIdentifier)
        } catch {
            throw VPNError(.configurationInvalid, cause: error.cause, remedy: error.remedy)
        }
        var host = HostConfiguration(
            bundlePath: bundle.path, executablePath: bundle.executablePath,
            principalClass: bundle.manifest.principalClass, protocolConfiguration: provider)
        host.interfaceName = provider.providerConfiguration[TunnelProviderProtocol.interfaceNameKey]?.stringValue
        host.controlSocketDirectory = bundle.manifest.controlSocketDirectory
        host.answersCounters = bundle.manifest.answersCounters
        host.options = options
        host.isOnDemand = isOnDemand
        host.secrets = try secrets(of: configuration)
        return host
    }

    private func stop(_ access: Access) throws -> [UInt8] {
        sessions.stop(try subject(access).key, .userInitiated)
        return try WireCodec.reply(NoParameters())
    }

    private func sendMessage(
        _ call: IncomingCall, _ access: Access, _ connection: ServerConnection
    ) throws -> ControlServer.Outcome {
        let message = try call.parameters(as: ManagerMessages.Message.self)
        guard let running = try tunnel(access).running else {
            throw SessionError(.notRunning, cause: "The session of \(try subject(access).label) does not run.")
        }
        let token = connection.token
        running.host.send(message.bytes) { [inbox = sessions.inbox] result in
            let reply: [UInt8]
            do {
                reply = try WireCodec.reply(ManagerMessages.MessageReply(reply: try result.get()))
            } catch {
                reply = Self.refusal(error)
            }
            inbox.put(.answer(connection: token, reply))
        }
        return .later
    }

    private func counters(_ access: Access, _ connection: ServerConnection) throws -> ControlServer.Outcome {
        let tunnel = try tunnel(access)
        guard let running = tunnel.running, let interface = tunnel.state.interface else {
            throw SessionError(.notRunning, cause: "The session of \(try subject(access).label) does not run.")
        }
        let read = { try NetlinkSocket().link(named: interface).statistics }
        let isolation = try subject(access).tunnelProvider.map { try Isolation($0) }
        let statistics = isolation == .namespace ? try IsolatedSpace.inside(interface, read) : try read()
        let counters = Counters(interface: interface, epoch: running.session.description, statistics)
        guard running.answersCounters else {
            return .reply(try WireCodec.reply(ManagerMessages.CountersReply(counters: counters)))
        }
        running.host.send(PeerCounters.request) { [inbox = sessions.inbox, token = connection.token] result in
            var counters = counters
            // Those of the interface do not depend on what the provider says, or fails to say.
            if let reply = (try? result.get()).flatMap(\.self), let read = PeerCounters.read(reply) {
                (counters.peers, counters.omittedPeers) = read
            }
            let reply: [UInt8]
            do {
                reply = try WireCodec.reply(ManagerMessages.CountersReply(counters: counters))
            } catch {
                reply = Self.refusal(error)
            }
            inbox.put(.answer(connection: token, reply))
        }
        return .later
    }
}

extension Counters {
    /// The kernel's counters of an interface.
    fileprivate init(interface: String, epoch: String, _ statistics: Link.Statistics) {
        self.init(interface: interface, epoch: epoch)
        receivedBytes = statistics.receivedBytes
        sentBytes = statistics.sentBytes
        receivedPackets = statistics.receivedPackets
        sentPackets = statistics.sentPackets
        receiveErrors = statistics.receiveErrors
        sendErrors = statistics.sendErrors
        receiveDrops = statistics.receiveDrops
        sendDrops = statistics.sendDrops
    }
}
