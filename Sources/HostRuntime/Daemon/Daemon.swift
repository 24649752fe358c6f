internal import Control
internal import Foundation
public import ProviderKit
internal import SystemStore

/// The manager of all sessions: `providerhost daemon`.
///
/// ```
/// signals ───┐                     ┌── store (configurations, keychain)
/// callers ───┤                     │
/// alarms ────┼─► loop ─► service ──┼── sessions, each on a thread of its own (TunnelHost)
/// sessions ──┘                     └── watchers
/// ```
/// The loop never waits for a session or a caller; what it does itself ends at once.
public final class Daemon {
    private let folder: String
    private let log: @Sendable (LogLevel, String) -> Void
    private let loop: EventLoop
    private let signals: StopSignals
    private let sessions: SessionTable
    private let service: ManagerService
    private let server: ControlServer
    private let onDemand: OnDemandDriver
    private let notifier: ServiceNotifier
    private let lock: Descriptor
    private var isStopping = false

    /// Prepares the manager: takes the lock, sweeps what a dead predecessor left, loads the store, listens.
    ///
    /// To be called on the main thread before the process has another one.
    ///
    /// - Parameters:
    ///   - version: What `GetInfo` says.
    ///   - environment: The variables of the process, which name the folders.
    ///   - log: Writes a line; called on the calling thread.
    /// - Throws: A `TunnelError` that says why the manager cannot run.
    public init(
        version: String, environment: [String: String], log: @escaping @Sendable (LogLevel, String) -> Void
    ) throws {
        StopSignals.block()
        self.log = log
        folder = ControlLocation.folder(environment)
        notifier = ServiceNotifier(environment)
        loop = try EventLoop()
        signals = try StopSignals()
        lock = try Self.takeLock(folder)
        // Interfaces went with their workers; another `run` may be at work on those that are there.
        for line in try LeftoverSweep().remarks { log(.warning, line) }
        sessions = try SessionTable()
        let store = try SystemStore(folder: StateFolder(environment: environment)) { log(.error, $0.description) }
        let service = try ManagerService(store: store, sessions: sessions, version: version, log: log)
        self.service = service
        server = try ControlServer(
            path: folder + "/" + ControlLocation.socketName, loop: loop,
            descriptorLimit: ManagerSocket.raiseDescriptorLimit(), isStranger: { service.isStranger($0) },
            serve: { service.serve($0, $1) })
        service.server = server
        onDemand = try OnDemandDriver(loop)
    }

    /// Serves until a signal has come and every session has ended.
    ///
    /// - Throws: ``SystemCallError`` when the loop cannot go on.
    public func run() throws {
        _ = try loop.watch(signals.descriptor.number) { [unowned self] in takeSignals() }
        _ = try loop.watch(sessions.inbox.bell.descriptor.number) { [unowned self] in sessions.takeEvents() }
        keepAlive()
        // Starts of rules need no client, and none that has ended before.
        service.follow(onDemand)
        notifier.ready()
        log(.info, "The manager listens on \(folder)/\(ControlLocation.socketName).")
        while !isStopping || sessions.runningCount > 0 { try loop.turn() }
        server.close()
        log(.info, "The manager ends.")
    }

    private func takeSignals() {
        for name in signals.take() where !isStopping {
            isStopping = true
            log(.info, "\(name): every session is stopped through its provider.")
            notifier.stopping()
            onDemand.close()
            sessions.stopAll(.userInitiated)
        }
    }

    private func keepAlive() {
        guard let interval = notifier.watchdogInterval else { return }
        notifier.isAlive()
        loop.schedule(after: interval) { [unowned self] in keepAlive() }
    }

    private static func takeLock(_ folder: String) throws -> Descriptor {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        } catch {
            throw DaemonError(
                .folderUnusable, cause: "The folder \(folder) cannot be made: \(error.localizedDescription)")
        }
        guard let lock = try ManagerSocket.lock(folder + "/manager.lock") else {
            throw DaemonError(.alreadyRunning, cause: "Another manager listens in \(folder).")
        }
        return lock
    }
}

/// The codes of ``DaemonError``.
public enum DaemonErrorCode: Int, TunnelErrorCode, CaseIterable {
    case alreadyRunning = 1
    case folderUnusable = 2

    public static var domain: String { "ProviderHostDaemonErrorDomain" }

    public var cause: String {
        switch self {
        case .alreadyRunning: "Another manager runs already."
        case .folderUnusable: "The folder of the sockets cannot be used."
        }
    }

    public var remedy: String {
        switch self {
        case .alreadyRunning: "Stop it first, or give this one another PROVIDERHOST_RUNTIME_DIR."
        case .folderUnusable: "Run as root, or name another folder in PROVIDERHOST_RUNTIME_DIR."
        }
    }
}

/// Why the manager cannot run.
public typealias DaemonError = CodedError<DaemonErrorCode>
