internal import ProviderKit

/// The deadlines, as one.
extension SessionMachine {
    /// When ``SessionEvent/deadline`` is due; nil when nothing is awaited.
    ///
    /// To be read again after every call of ``start(options:isOnDemand:at:)`` and ``handle(_:at:)``.
    public var nextDeadline: Instant? {
        [timer?.at, messages.nextDeadline, sleepDeadline].compactMap(\.self).min()
    }

    mutating func fireDeadlines(_ now: Instant) {
        expireMessages(now)
        if let sleepDeadline, sleepDeadline <= now {
            log(.warning, "The provider was not ready for sleep in time; the machine sleeps anyway.")
            allowPendingSleep()
        }
        guard let timer, timer.at <= now else { return }
        self.timer = nil
        switch timer.kind {
        case .load: missedStart(.loadTimedOut, stop: nil, now)
        case .start: missedStart(.startTimedOut, stop: .connectionFailed, now)
        case .stop: missedStop()
        case .reasserting: end(.failed, TunnelFailure(SessionError(.reassertingTimedOut)), stop: .connectionFailed, now)
        case .restart: spawn(now)
        case .settle: publish(.connected)
        }
    }

    private mutating func missedStart(_ code: SessionErrorCode, stop: ProviderStopReason?, _ now: Instant) {
        let failure = TunnelFailure(SessionError(code))
        guard phase == .up else { return end(.startTimedOut, failure, stop: stop, now) }
        giveUpStart(failure, now)
    }

    private mutating func missedStop() {
        let failure = TunnelFailure(SessionError(.stopTimedOut))
        stopTimedOut = true
        keep(failure)
        log(.error, failure.cause)
        terminateWorker()
    }
}
