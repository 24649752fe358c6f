internal import ProviderKit

/// The worker process and the calls of its provider.
extension SessionMachine {
    mutating func spawn(_ now: Instant) {
        worker = .loading
        startAnswered = false
        timer = Timer(kind: .load, at: now + deadlines.load)
        emit(.spawnWorker)
    }

    mutating func terminateWorker() {
        worker = .exiting
        timer = nil
        emit(.terminateWorker)
    }

    mutating func workerReady(_ now: Instant) {
        guard worker == .loading else { return logStray("is ready") }
        worker = .starting
        timer = Timer(kind: .start, at: now + deadlines.start)
        emit(.startProvider(options: request.options, isOnDemand: request.isOnDemand))
        deliverWaitingMessages()
    }

    mutating func workerFailed(_ failure: TunnelFailure, _ now: Instant) {
        guard worker == .loading else { return logStray("cannot load its module") }
        giveUpStart(failure, now)
    }

    mutating func startCompleted(_ failure: TunnelFailure?, _ now: Instant) {
        guard !startAnswered, worker == .starting || worker == .stopping else {
            return logStray("completed its start again")
        }
        startAnswered = true
        if worker == .stopping {
            // The error of a start that was broken off by a caller is the consequence of the stop, not its cause.
            if case .requested = ending {} else { keep(failure) }
            return log(.info, "The start completed while the session was ending.")
        }
        if let failure { return giveUpStart(failure, now) }
        worker = .running
        timer = nil
        upSince = now
        phase = .up
        if connectedSince == nil { connectedSince = now }
        publish(.connected)
    }

    mutating func stopCompleted() {
        guard worker == .stopping else { return logStray("completed its stop again, or unasked") }
        terminateWorker()
    }

    mutating func cancelled(_ failure: TunnelFailure?, _ now: Instant) {
        guard worker != .none, worker != .exiting else { return logStray("cancelled") }
        switch phase {
        case .connecting, .up:
            let reason: ProviderStopReason = failure == nil ? .none : .providerFailed
            let cause: SessionEnding =
                phase == .connecting && failure != nil ? .startFailed : .cancelled(withError: failure != nil)
            end(cause, failure, stop: reason, now)
        case .idle, .preparing, .ending:
            keep(failure)
            log(.info, "The provider cancelled while the session was ending.")
        }
    }

    /// Shows reasserting at once, and its end only when the turn is over.
    mutating func setReasserting(_ value: Bool, _ now: Instant) {
        guard worker == .running else { return log(.debug, "Reasserting counts while the tunnel is up.") }
        if value {
            if timer?.kind != .reasserting { timer = Timer(kind: .reasserting, at: now + deadlines.reasserting) }
            publish(.reasserting)
        } else if status == .reasserting {
            timer = Timer(kind: .settle, at: now)
        }
    }

    mutating func workerExited(_ how: WorkerExit, _ now: Instant) {
        guard worker != .none else { return log(.warning, "A worker ended that was not there: \(how).") }
        let wasStopping = worker == .stopping
        worker = .none
        timer = nil
        abandonSettings()
        dropDeliveredMessages()
        switch phase {
        case .connecting:
            end(.startFailed, death(how), stop: nil, now)
        case .up:
            allowPendingSleep()
            failedWhileUp(restartFailure ?? death(how), now)
        case .idle, .preparing, .ending:
            if wasStopping { log(.warning, "The provider's process ended before it completed its stop: \(how).") }
            advanceEnding()
        }
    }

    /// A start that cannot succeed ends the session, or, when the tunnel was up before, counts as a failed restart.
    mutating func giveUpStart(_ failure: TunnelFailure, _ now: Instant) {
        guard phase == .up else { return end(.startFailed, failure, stop: nil, now) }
        restartFailure = failure
        terminateWorker()
    }

    private mutating func failedWhileUp(_ failure: TunnelFailure, _ now: Instant) {
        restartFailure = nil
        if let upSince, now.duration(since: upSince) >= restart.resetAfter { failures = 0 }
        upSince = nil
        failures += 1
        guard failures < restart.failureLimit else {
            let cause = "The provider failed \(failures) times in a row; the last time: \(failure.cause)"
            return end(.failed, TunnelFailure(VPNConnectionError(.pluginFailed, cause: cause)), stop: nil, now)
        }
        let delay = restart.delay(afterFailures: failures)
        timer = Timer(kind: .restart, at: now + delay)
        publish(.reasserting)
        log(.warning, "\(failure.cause) A fresh process follows in \(delay).")
    }

    private func death(_ how: WorkerExit) -> TunnelFailure {
        if case .notStarted(let failure) = how { return failure }
        return TunnelFailure(VPNConnectionError(.pluginFailed, cause: "The provider's process died (\(how))."))
    }

    private mutating func logStray(_ what: String) {
        log(.warning, "Ignored: the provider \(what), which nobody waits for.")
    }
}
