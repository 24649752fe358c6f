import Dispatch
import ProviderKit
import Synchronization

/// Drives one provider at the manager's word.
///
/// The thread that calls ``run()`` reads the channel; the provider is called on its own serial queue, so a provider that
/// hangs does not keep the worker from ending.
final class Worker: Sendable {
    /// How long the provider may take to stop after the manager has died.
    static let orphanDeadline = DispatchTimeInterval.seconds(2)
    /// The longest reply to an app message, in bytes.
    static let appMessageLimit = 1 << 20

    private let channel: WorkerChannel
    private let context: WorkerContext
    private let log: WorkerLog
    private let flow: TunPacketFlow
    private let provider: ProviderBox
    private let hasStopped = Atomic<Bool>(false)

    /// Makes the provider; nothing is sent before ``run()``.
    ///
    /// - Parameters:
    ///   - channel: The way to the manager.
    ///   - configuration: What the manager said first.
    ///   - flow: The packets of the TUN device.
    ///   - make: Makes the provider, on the provider's queue.
    /// - Throws: What `make` throws, or that memory or descriptors are short.
    init(
        channel: WorkerChannel, configuration: WorkerConfiguration, flow: TunPacketFlow,
        make: @escaping @Sendable (any ProviderContext) throws -> any PacketTunnelProvider
    ) throws {
        self.channel = channel
        log = WorkerLog(channel, level: configuration.logLevel)
        self.flow = flow
        context = WorkerContext(configuration: configuration, packetFlow: flow, channel: channel, log: log)
        provider = ProviderBox()
        let context = context
        try provider.set { try make(context) }
    }

    /// Serves the manager until the provider has stopped or the manager is gone.
    ///
    /// - Returns: The exit status of the worker: 0 after an orderly stop.
    func run() -> Int32 {
        var isStarted = false
        do {
            try channel.sendWaiting(.ready)
            while let (message, descriptors) = try channel.receiveWaiting() {
                if case .start = message { isStarted = true }
                handle(message, descriptors: descriptors, isStarted: isStarted)
            }
        } catch {
            log.write(.error, "the channel to the manager failed: \(error)")
        }
        context.end()
        if hasStopped.load(ordering: .acquiring) {
            flow.close()
            return 0
        }
        if isStarted { stopOrphan() }
        flow.close()
        return 1
    }

    private func handle(_ message: ManagerMessage, descriptors: [Descriptor], isStarted: Bool) {
        switch message {
        case .configure: log.write(.warning, "a second configuration came; ignored")
        case .start(let options): start(options: options)
        case .stop(let reason): isStarted ? stop(reason) : stopped()
        case .settingsCompleted(let id, let failure): context.settingsCompleted(id: id, failure: failure)
        case .hookCompleted(let id, let failure): context.hookCompleted(id: id, failure: failure)
        case .udpSockets(let id, let reply): context.socketsOpened(id: id, reply: reply, descriptors: descriptors)
        case .appMessage(let id, let bytes, let wantsReply): appMessage(id: id, bytes, wantsReply: wantsReply)
        case .controlConnection(let id): serve(id, descriptors)
        case .sleep(let id): sleep(id: id)
        case .hostNetworks(let networks): context.hostNetworksChanged(networks)
        case .settingsShortfalls(let shortfalls): context.settingsFellShort(shortfalls)
        case .wake: provider.perform { $0.wake() }
        }
    }

    private func start(options: [String: PropertyListValue]?) {
        let completed = once("startTunnel") { [self] (error: (any Error)?) in
            send(.startCompleted(error.map { TunnelFailure($0) }))
        }
        provider.perform { $0.startTunnel(options: options) { completed($0) } }
    }

    private func stop(_ reason: ProviderStopReason) {
        let completed = once("stopTunnel") { [self] (_: Void) in stopped() }
        provider.perform { $0.stopTunnel(with: reason) { completed(()) } }
    }

    private func stopped() {
        hasStopped.store(true, ordering: .releasing)
        let drops = flow.drops
        if drops != TunPacketFlow.Drops() {
            log.write(
                .info,
                "packets not passed on: \(drops.malformed) malformed, \(drops.refused) refused by the interface, "
                    + "\(drops.foreign) of another flow")
        }
        send(.stopCompleted)
        // Wakes the thread in `run`; what was sent still arrives.
        channel.close()
    }

    private func appMessage(id: UInt64, _ bytes: [UInt8], wantsReply: Bool) {
        guard wantsReply else { return provider.perform { $0.handleAppMessage(bytes, completionHandler: nil) } }
        let completed = once("handleAppMessage") { [self] (reply: [UInt8]?) in
            if let reply, reply.count > Self.appMessageLimit {
                log.write(.warning, "a reply of \(reply.count) bytes to an app message is over the limit; dropped")
                send(.appMessageReply(id: id, nil))
            } else {
                send(.appMessageReply(id: id, reply))
            }
        }
        provider.perform { $0.handleAppMessage(bytes) { completed($0) } }
    }

    /// Gives the provider a connection, which closes when it says so, and at the latest with the last reference to it.
    private func serve(_ id: UInt64, _ descriptors: [Descriptor]) {
        guard let socket = descriptors.first else { return }
        let connection = ControlConnection(fileDescriptor: socket.number) { [self] activity in
            if activity == .closed { socket.close() }
            send(.controlActivity(id: id, activity))
        }
        provider.perform { $0.handleControlConnection(connection) }
    }

    private func sleep(id: UInt64) {
        let completed = once("sleep") { [self] (_: Void) in send(.sleepCompleted(id: id)) }
        provider.perform { $0.sleep { completed(()) } }
    }

    /// Lets the provider clean up once after the manager has died; whatever it does, the worker ends.
    private func stopOrphan() {
        let done = DispatchSemaphore(value: 0)
        provider.perform { $0.stopTunnel(with: .internalError) { done.signal() } }
        _ = done.wait(timeout: .now() + Self.orphanDeadline)
    }

    private func once<Value: Sendable>(
        _ name: String, _ action: @escaping @Sendable (Value) -> Void
    ) -> Once<Value> {
        Once(action) { [log] in log.write(.warning, "the provider completed \(name) a second time; ignored") }
    }

    private func send(_ message: WorkerMessage) {
        do {
            try channel.sendWaiting(message)
        } catch {
            // The channel is over, which the receiving thread sees and acts on.
        }
    }
}
