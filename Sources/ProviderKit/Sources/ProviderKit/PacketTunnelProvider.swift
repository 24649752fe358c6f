/// A tunnel: what a module implements and the host drives, in callback form.
///
/// The host calls every method of one provider on one serial queue, so the methods need no lock among themselves. Because
/// they are asynchronous, `stopTunnel` may still arrive while `startTunnel` has not completed: the provider then gives up
/// the start, completes it with an error, and completes the stop.
///
/// Every completion handler counts once; a second call is logged and ignored. A handler that is never called is ended by
/// the deadline of that call (start 60 s, stop 20 s, message and sleep 10 s), which ends the worker process.
///
/// Names and semantics are those of Network Extension's `NEPacketTunnelProvider`. Providers in `async` style conform to
/// ``AsyncPacketTunnelProvider`` instead.
public protocol PacketTunnelProvider: AnyObject {
    /// Brings the tunnel up: connect, apply settings through the context, then complete.
    ///
    /// - Parameters:
    ///   - options: What the caller of start gave, as is; nil when it gave nothing or the start came from on-demand rules.
    ///   - completionHandler: Called once: nil when the tunnel is ready for traffic, else why it is not.
    func startTunnel(
        options: [String: PropertyListValue]?, completionHandler: @escaping @Sendable ((any Error)?) -> Void)

    /// Tears the tunnel down; the worker process ends after the handler was called.
    ///
    /// - Parameters:
    ///   - reason: Why the tunnel stops.
    ///   - completionHandler: Called once, when nothing of the tunnel is left.
    func stopTunnel(with reason: ProviderStopReason, completionHandler: @escaping @Sendable () -> Void)

    /// Answers a message of the app that owns the configuration.
    ///
    /// - Parameters:
    ///   - messageData: The message, at most 1 MiB.
    ///   - completionHandler: Called once with the reply or nil; nil itself when the app expects none.
    func handleAppMessage(_ messageData: [UInt8], completionHandler: (@Sendable ([UInt8]?) -> Void)?)

    /// Takes a connection to the tunnel's control socket, to be served on a thread or task of the provider's own.
    ///
    /// Only a bundle whose `Info.plist` has the key `PHControlSocketDirectory` has such a socket.
    ///
    /// - Parameter connection: The connection; it ends when the last reference to it goes.
    func handleControlConnection(_ connection: ControlConnection)

    /// Prepares for a machine that is about to sleep.
    ///
    /// - Parameter completionHandler: Called once, when the provider is ready for sleep.
    func sleep(completionHandler: @escaping @Sendable () -> Void)

    /// Tells that the machine is awake again.
    func wake()
}

extension PacketTunnelProvider {
    /// Answers with no reply, as a provider without messages does.
    public func handleAppMessage(_ messageData: [UInt8], completionHandler: (@Sendable ([UInt8]?) -> Void)?) {
        completionHandler?(nil)
    }

    /// Ends the connection, as a provider without a control protocol does.
    public func handleControlConnection(_ connection: ControlConnection) { connection.close() }

    /// Is ready for sleep at once.
    public func sleep(completionHandler: @escaping @Sendable () -> Void) { completionHandler() }

    /// Does nothing on wake.
    public func wake() {}
}

/// A tunnel in `async` form: an actor or a `Sendable` class with the same entry points.
public protocol AsyncPacketTunnelProvider: PacketTunnelProvider, Sendable {
    /// Brings the tunnel up; returning means ready for traffic, throwing means why it is not.
    func startTunnel(options: [String: PropertyListValue]?) async throws

    /// Tears the tunnel down; returning means nothing of it is left.
    func stopTunnel(with reason: ProviderStopReason) async

    /// Answers a message of the app that owns the configuration, or returns nil.
    func handleAppMessage(_ messageData: [UInt8]) async -> [UInt8]?

    /// Takes a connection to the tunnel's control socket.
    func handleControlConnection(_ connection: ControlConnection) async

    /// Prepares for a machine that is about to sleep.
    func sleep() async

    /// Tells that the machine is awake again.
    func wake() async
}

extension AsyncPacketTunnelProvider {
    /// Answers with no reply, as a provider without messages does.
    public func handleAppMessage(_ messageData: [UInt8]) async -> [UInt8]? { nil }

    /// Ends the connection, as a provider without a control protocol does.
    public func handleControlConnection(_ connection: ControlConnection) async { connection.close() }

    /// Is ready for sleep at once.
    public func sleep() async {}

    /// Does nothing on wake.
    public func wake() async {}

    /// Runs the `async` form and completes with its outcome.
    public func startTunnel(
        options: [String: PropertyListValue]?, completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        Task {
            do {
                try await startTunnel(options: options)
                completionHandler(nil)
            } catch {
                completionHandler(error)
            }
        }
    }

    /// Runs the `async` form and completes.
    public func stopTunnel(with reason: ProviderStopReason, completionHandler: @escaping @Sendable () -> Void) {
        Task {
            await stopTunnel(with: reason)
            completionHandler()
        }
    }

    /// Runs the `async` form and completes with its reply.
    public func handleAppMessage(_ messageData: [UInt8], completionHandler: (@Sendable ([UInt8]?) -> Void)?) {
        Task {
            let reply = await handleAppMessage(messageData)
            completionHandler?(reply)
        }
    }

    /// Runs the `async` form.
    public func handleControlConnection(_ connection: ControlConnection) {
        Task { await handleControlConnection(connection) }
    }

    /// Runs the `async` form and completes.
    public func sleep(completionHandler: @escaping @Sendable () -> Void) {
        Task {
            await sleep()
            completionHandler()
        }
    }

    /// Runs the `async` form.
    public func wake() {
        Task { await wake() }
    }
}
