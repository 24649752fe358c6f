internal import NetworkSettings
public import ProviderKit
public import Session

/// What a session is run with.
public struct HostConfiguration: Sendable {
    /// The directory of the bundle.
    public var bundlePath: String
    /// The shared library inside the bundle, checked by the caller.
    public var executablePath: String
    /// The name of the principal class, for messages.
    public var principalClass: String
    /// The configuration that the provider sees.
    public var protocolConfiguration: TunnelProviderProtocol
    /// What takes the place of `${keychain:NAME}` in the configuration, inside the worker.
    public var secrets: SessionSecrets?
    /// The name of the interface, nil for the first free `phtunN`.
    public var interfaceName: String?
    /// The start options that the provider is given.
    public var options: [String: PropertyListValue]?
    /// Whether on-demand rules start the tunnel.
    public var isOnDemand: Bool
    /// How long calls into the provider may take.
    public var deadlines: Deadlines
    /// When a worker that died gets a successor.
    public var restart: RestartPolicy
    /// What DNS settings are given to.
    public var dnsBackend: DNSBackend
    /// The least severe lines of the log that are reported.
    public var logLevel: LogLevel
    /// The folder below /var/run for the control socket, nil for none.
    public var controlSocketDirectory: String?
    /// Whether the provider answers `PeerCounters.request`.
    public var answersCounters: Bool
    /// Who looks after the interface.
    public var interfaceCare: InterfaceCare

    /// Makes a configuration with the documented deadlines and lines up to `info`.
    public init(
        bundlePath: String, executablePath: String, principalClass: String,
        protocolConfiguration: TunnelProviderProtocol
    ) {
        self.bundlePath = bundlePath
        self.executablePath = executablePath
        self.principalClass = principalClass
        self.protocolConfiguration = protocolConfiguration
        isOnDemand = false
        deadlines = Deadlines()
        restart = RestartPolicy()
        dnsBackend = .automatic
        logLevel = .info
        answersCounters = false
        interfaceCare = .host
    }
}

/// Who gives the interface of a session its addresses, routes, MTU and state.
public enum InterfaceCare: Sendable {
    /// The host does, as the provider's settings say.
    case host
    /// Tools such as wg-quick(8) do; the session ends when they delete the interface or its control socket.
    ///
    /// Device and listening socket are made, or taken over where the caller was given them.
    case tools(device: Descriptor?, listener: Descriptor?)
}

/// Runs one session in this process: the manager of `providerhost run`, and one of many in `providerhost daemon`.
///
/// ```
/// signals ──┐                      ┌── report (a thread of its own)
/// commands ─┤                      │
/// alarm ────┼─► loop ─► machine ─► actions ──► interface, settings, sockets (netlink, /dev/net/tun)
/// netlink ──┤                      │
/// worker ───┘                      └─────────► worker process (channel, pidfd)
/// ```
public final class TunnelHost: Sendable {
    private let configuration: HostConfiguration
    private let inbox: SessionInbox
    private let reporter: Reporter
    private let takesSignals: Bool

    /// Prepares a session and blocks SIGINT, SIGTERM and SIGHUP, which become a stop; SIGPIPE is ignored.
    ///
    /// To be called on the main thread before the process has another one, unless somebody else has blocked and takes the
    /// signals.
    ///
    /// - Parameters:
    ///   - configuration: What to run.
    ///   - takesSignals: False for one of several sessions, which is stopped by ``stop(_:)`` alone.
    ///   - report: Called one report at a time, in order, on another thread. It may block without harm to the session.
    /// - Throws: ``SystemCallError`` when the process has no descriptor left.
    public init(
        _ configuration: HostConfiguration, takesSignals: Bool = true,
        report: @escaping @Sendable (SessionReport) -> Void
    ) throws(SystemCallError) {
        if takesSignals { StopSignals.block() }
        self.takesSignals = takesSignals
        self.configuration = configuration
        inbox = try SessionInbox()
        reporter = Reporter(report)
    }

    /// Runs the session on the calling thread until it is disconnected; to be called once.
    ///
    /// Whatever ends the session, nothing of it is left when this returns; an error was reported with the last status.
    public func run() -> SessionOutcome {
        run { [configuration] in try LinuxSystem(configuration) }
    }

    /// Runs the session on any system.
    func run(on system: some SessionSystem) -> SessionOutcome { run { system } }

    /// Runs the session on a system that is made for it; what making it throws ends the session.
    func run(_ makeSystem: () throws -> any SessionSystem) -> SessionOutcome {
        defer { reporter.finish() }
        do {
            let driver = try SessionDriver(
                configuration: configuration, system: try makeSystem(), inbox: inbox, reporter: reporter,
                takesSignals: takesSignals)
            return driver.run()
        } catch {
            refuse(inbox.close())
            let failure = TunnelFailure(error)
            reporter.send(.status(.disconnected, interface: configuration.interfaceName ?? "", error: failure))
            return .startFailed
        }
    }

    /// Stops the session through its provider; no more than a note when it is ending already.
    public func stop(_ reason: ProviderStopReason) { _ = inbox.put(.stop(reason)) }

    /// Sends a message to the provider.
    ///
    /// - Parameters:
    ///   - message: At most 1 MiB.
    ///   - reply: Called once on the session's thread (or, once the session is over, on the caller's): the reply, nil for
    ///     none, or why the message is not delivered. Nil itself tells the provider that no reply is expected.
    public func send(_ message: [UInt8], reply: (@Sendable (Result<[UInt8]?, TunnelFailure>) -> Void)?) {
        let command = SessionCommand.message(message, reply: reply)
        if !inbox.put(command) { refuse([command]) }
    }

    /// Tells that the machine is about to sleep; `allow` is called once, when it may.
    public func sleep(allow: @escaping @Sendable () -> Void) {
        if !inbox.put(.sleep(allow: allow)) { allow() }
    }

    /// Tells that the machine is awake again.
    public func wake() { _ = inbox.put(.wake) }

    private func refuse(_ commands: [SessionCommand]) { commands.forEach(SessionDriver.refuse) }
}
