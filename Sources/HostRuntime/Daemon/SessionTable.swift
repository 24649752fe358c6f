internal import Control
internal import Foundation
internal import ProviderKit
internal import Session

/// The sessions of all configurations: at most one each, every one on a thread of its own with its own worker.
///
/// Used by the manager's thread alone; sessions talk to it through an inbox.
final class SessionTable {
    /// What the threads of sessions tell the manager.
    enum Event: Sendable {
        case report(session: UInt64, identifier: String, SessionReport)
        case ended(session: UInt64, identifier: String, SessionOutcome)
        /// A session began.
        case began(identifier: String, UniqueIdentifier)
        /// The answer to a call that waited for something else.
        case answer(connection: UInt64, [UInt8])
    }

    /// Identifies this run of the manager.
    let service = UUID().uuidString
    let inbox: Inbox<Event>
    /// Called when a session's state changed, and when a line was logged.
    var onChange: (ManagedTunnel) -> Void = { _ in }
    var onLine: (ManagedTunnel, LogLine) -> Void = { _, _ in }
    /// Called with the session that began; with nil and the error, if any, when it has ended.
    var onSession: (String, UniqueIdentifier?, TunnelFailure?) -> Void = { _, _, _ in }
    /// Called when a session has ended and none waits to follow it; with whether somebody had asked for the end.
    var onEnd: (String, Bool) -> Void = { _, _ in }
    /// Called with the connection that waits and the answer for it.
    var onAnswer: (UInt64, [UInt8]) -> Void = { _, _ in }

    private let restart: RestartPolicy
    private let makeSystem: @Sendable (HostConfiguration) throws -> any SessionSystem
    private var tunnels: [String: ManagedTunnel] = [:]
    private var nextSession: UInt64 = 1
    private var sequence = 0

    /// Makes an empty table.
    ///
    /// - Parameters:
    ///   - restart: When a worker that died gets a successor.
    ///   - makeSystem: What a session runs on; called on its thread.
    /// - Throws: ``SystemCallError`` when the process has no descriptor left.
    init(
        restart: RestartPolicy = RestartPolicy(),
        makeSystem: @escaping @Sendable (HostConfiguration) throws -> any SessionSystem = {
            try LinuxSystem($0)
        }
    ) throws(SystemCallError) {
        self.restart = restart
        self.makeSystem = makeSystem
        inbox = try Inbox()
    }

    /// How many sessions run.
    var runningCount: Int { tunnels.values.count { $0.running != nil } }

    /// Every configuration's session, by identifier.
    var all: [ManagedTunnel] { tunnels.values.sorted { $0.identifier < $1.identifier } }

    func tunnel(_ identifier: String) -> ManagedTunnel? { tunnels[identifier] }

    /// Adds a configuration, or takes over that it was enabled or disabled; its session is stopped when it was disabled.
    func configure(_ configuration: ManagedConfiguration) {
        let isEnabled = configuration.content.isEnabled
        guard let tunnel = tunnels[configuration.key] else {
            let tunnel = ManagedTunnel(configuration, service: service)
            tunnels[configuration.key] = tunnel
            return publish(tunnel)
        }
        tunnel.adopt(configuration)
        guard tunnel.isEnabled != isEnabled else { return }
        tunnel.isEnabled = isEnabled
        if tunnel.running == nil {
            tunnel.state.status = tunnel.idleStatus
            publish(tunnel)
        } else if !isEnabled {
            stop(tunnel, .configurationDisabled)
        }
    }

    /// Forgets a configuration, and stops its session.
    func remove(_ identifier: String) {
        guard let tunnel = tunnels[identifier] else { return }
        tunnel.isEnabled = false
        guard tunnel.running != nil else {
            tunnels[identifier] = nil
            tunnel.state.status = .invalid
            return publish(tunnel)
        }
        tunnel.isRemoved = true
        stop(tunnel, .configurationRemoved)
    }

    /// Starts a session, or notes the start while the one before is ending.
    ///
    /// - Throws: ``SessionError`` while a session is active, ``SystemCallError`` when it cannot be had.
    func start(_ identifier: String, _ request: HostConfiguration) throws {
        guard let tunnel = tunnels[identifier] else { throw VPNError(.configurationInvalid) }
        guard let running = tunnel.running else { return try launch(tunnel, request) }
        let isEnding = running.isStopping || [.disconnecting, .disconnected, .invalid].contains(tunnel.state.status)
        guard isEnding else {
            throw SessionError(.alreadyActive, cause: "The session is already \(tunnel.state.status).")
        }
        guard tunnel.waitingStart == nil else {
            throw SessionError(.alreadyActive, cause: "A start waits already.", remedy: "Wait until it is connected.")
        }
        tunnel.waitingStart = request
    }

    /// Notes why a session did not even begin, where nobody waits for the answer.
    func noteFailure(_ error: any Error, of identifier: String) {
        guard let tunnel = tunnels[identifier] else { return }
        let failure = TunnelFailure(error)
        tunnel.state.error = failure
        publish(tunnel)
        onLine(tunnel, tunnel.log.add(.error, "not started: \(failure)"))
        onSession(identifier, nil, failure)
    }

    /// Stops a session through its provider, and drops a start that waits.
    func stop(_ identifier: String, _ reason: ProviderStopReason) {
        if let tunnel = tunnels[identifier] { stop(tunnel, reason) }
    }

    /// Stops every session.
    func stopAll(_ reason: ProviderStopReason) {
        for tunnel in tunnels.values { stop(tunnel, reason) }
    }

    /// Deals with what the sessions told.
    func takeEvents() {
        for event in inbox.take() {
            switch event {
            case .report(let number, let identifier, let report): take(report, of: number, identifier)
            case .began(let identifier, let session): onSession(identifier, session, nil)
            case .ended(let number, let identifier, _): ended(number, identifier)
            case .answer(let connection, let reply): onAnswer(connection, reply)
            }
        }
    }

    private func stop(_ tunnel: ManagedTunnel, _ reason: ProviderStopReason) {
        tunnel.waitingStart = nil
        tunnel.running?.isStopping = true
        tunnel.running?.host.stop(reason)
    }

    private func launch(_ tunnel: ManagedTunnel, _ request: HostConfiguration) throws {
        let number = nextSession
        nextSession += 1
        let (identifier, inbox, makeSystem) = (tunnel.identifier, inbox, makeSystem)
        var request = request
        request.restart = restart
        let host = try TunnelHost(request, takesSignals: false) { report in
            inbox.put(.report(session: number, identifier: identifier, report))
        }
        let running = ManagedTunnel.Running(number: number, host: host, answersCounters: request.answersCounters)
        tunnel.running = running
        // Kept in the store after the reply to the start, which does not wait for a disk.
        inbox.put(.began(identifier: identifier, running.session))
        // The session reports this too, later than the reply to the start.
        if tunnel.report(.connecting, interface: "", error: nil) { announce(tunnel) }
        let thread = Thread { [request] in
            let outcome = host.run { try makeSystem(request) }
            inbox.put(.ended(session: number, identifier: identifier, outcome))
        }
        thread.name = "session-\(number)"
        thread.stackSize = 1 << 20
        thread.start()
    }

    private func take(_ report: SessionReport, of number: UInt64, _ identifier: String) {
        guard let tunnel = tunnels[identifier], tunnel.running?.number == number else { return }
        switch report {
        case .log(let level, let text): onLine(tunnel, tunnel.log.add(level, text))
        case .status(let status, let interface, let error):
            if tunnel.report(status, interface: interface, error: error) { announce(tunnel) }
        }
    }

    private func ended(_ number: UInt64, _ identifier: String) {
        guard let tunnel = tunnels[identifier], let running = tunnel.running, running.number == number else { return }
        tunnel.running = nil
        onSession(identifier, nil, tunnel.state.error)
        if tunnel.isRemoved { tunnels[identifier] = nil }
        guard let request = tunnel.waitingStart else { return onEnd(identifier, running.isStopping) }
        tunnel.waitingStart = nil
        do {
            try launch(tunnel, request)
        } catch {
            noteFailure(error, of: identifier)
            onEnd(identifier, false)
        }
    }

    /// Publishes a new status, and logs it.
    private func announce(_ tunnel: ManagedTunnel) {
        publish(tunnel)
        let state = tunnel.state
        let words = [state.status.description, state.interface, state.error?.description].compactMap(\.self)
        onLine(tunnel, tunnel.log.add(state.error == nil ? .info : .error, words.joined(separator: " ")))
    }

    private func publish(_ tunnel: ManagedTunnel) {
        sequence += 1
        tunnel.state.sequence = sequence
        onChange(tunnel)
    }
}
