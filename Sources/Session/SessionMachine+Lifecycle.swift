internal import ProviderKit

/// From disconnected to disconnected: the interface, the end, and who asks for it.
extension SessionMachine {
    /// Leaves disconnected.
    mutating func begin(_ request: StartRequest) {
        self.request = request
        lastDisconnectError = nil
        ending = nil
        stopTimedOut = false
        tearDownFailed = false
        failures = 0
        upSince = nil
        restartFailure = nil
        phase = .preparing
        interface = .creating
        publish(.connecting)
        emit(.createInterface)
    }

    mutating func interfaceCreated(_ failure: TunnelFailure?, _ now: Instant) {
        guard interface == .creating else { return log(.warning, "An interface came that nobody asked for.") }
        interface = failure == nil ? .present : .absent
        if phase == .ending { return advanceEnding() }
        if let failure { return end(.startFailed, failure, stop: nil, now) }
        phase = .connecting
        spawn(now)
    }

    mutating func interfaceLost(_ name: String, _ now: Instant) {
        guard interface == .present, phase == .connecting || phase == .up else { return }
        let failure = TunnelFailure(
            SessionError(.interfaceLost, cause: "The interface \(name) was deleted from outside."))
        end(phase == .up ? .failed : .startFailed, failure, stop: .internalError, now)
    }

    mutating func stopRequested(_ reason: ProviderStopReason, _ now: Instant) {
        waitingStart = nil
        switch phase {
        case .idle: break
        case .preparing, .connecting, .up: end(.requested(reason), nil, stop: reason, now)
        case .ending: log(.info, "The session is ending already.")
        }
    }

    mutating func configurationChanged(_ state: ConfigurationState, _ now: Instant) {
        configuration = state
        switch (state, phase) {
        case (.enabled, .idle): publish(.disconnected)
        case (_, .idle): publish(.invalid)
        case (.enabled, _): break
        case (.disabled, _): stopRequested(.configurationDisabled, now)
        case (.removed, _): stopRequested(.configurationRemoved, now)
        }
    }

    /// Begins the end of the session.
    ///
    /// - Parameters:
    ///   - ending: The cause, for the exit code.
    ///   - failure: The error of the disconnect; only the first of a session is kept.
    ///   - stop: The reason that the provider is told; nil for a provider that knows, because its own start failed.
    ///   - now: The time of the event.
    mutating func end(_ ending: SessionEnding, _ failure: TunnelFailure?, stop: ProviderStopReason?, _ now: Instant) {
        self.ending = ending
        phase = .ending
        timer = nil
        keep(failure)
        publish(.disconnecting)
        cancelWaitingSettings(includingClears: false)
        dropUndeliveredMessages()
        switch (worker, stop) {
        case (.starting, let reason?), (.running, let reason?):
            worker = .stopping
            timer = Timer(kind: .stop, at: now + deadlines.stop)
            emit(.stopProvider(reason))
        case (.loading, _), (.starting, nil), (.running, nil):
            terminateWorker()
        case (.none, _), (.stopping, _), (.exiting, _):
            break
        }
        advanceEnding()
    }

    /// Keeps the first error of a session.
    mutating func keep(_ failure: TunnelFailure?) {
        if lastDisconnectError == nil { lastDisconnectError = failure }
    }

    /// Goes on with the end as far as the worker, the interface and a settings call under way allow.
    mutating func advanceEnding() {
        guard phase == .ending, worker == .none, settings.applying == nil else { return }
        switch interface {
        case .creating, .tearingDown: break
        case .absent: finish()
        case .present:
            interface = .tearingDown
            emit(.tearDown)
        }
    }

    mutating func tornDown(_ failure: TunnelFailure?) {
        guard interface == .tearingDown else { return log(.warning, "A tear-down ended that nobody asked for.") }
        interface = .absent
        if let failure {
            tearDownFailed = true
            keep(failure)
            log(.error, failure.description)
        }
        finish()
    }

    private mutating func finish() {
        phase = .idle
        connectedSince = nil
        dropAllMessages()
        allowPendingSleep()
        publish(.disconnected)
        if configuration != .enabled {
            waitingStart = nil
            publish(.invalid)
        } else if let request = waitingStart {
            waitingStart = nil
            begin(request)
        }
    }
}
