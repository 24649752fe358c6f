import WireGuard

/// Start without a gateway, leases, and the release at the end.
extension ClientMachine {
    private static let releaseTime = TimeSpan.milliseconds(500)
    private static let secondRelease = TimeSpan.milliseconds(250)

    mutating func serviceStart(_ now: Instant) {
        guard let deadline = startDeadline, now >= deadline else { return }
        startDeadline = nil
        // Settings that are being applied decide the start themselves.
        guard inFlight == nil, waitingChange == nil else { return }
        startWithoutGateway(.noAnswer, now)
    }

    /// Goes on with the start as the profile says for a gateway that gives nothing.
    mutating func startWithoutGateway(_ failure: StartFailure, _ now: Instant) {
        guard life == .starting, inFlight == nil, waitingChange == nil else { return }
        startDeadline = nil
        switch policy.source {
        case .static, .pushPreferred: want(Change(.profile, .settings), now)
        case .push: want(Change(.bare, .settings), now)
        case .pushRequired:
            life = .ended
            emit(.startFailed(failure))
        }
    }

    /// A lease counts from the first HELLO that asked for it, which is before the gateway granted it.
    mutating func grant(_ duration: LeaseDuration, from start: Instant) {
        isExpired = false
        if waitingChange?.reason == .withdrawal { waitingChange = nil }
        guard duration.seconds > 0 else {
            lease = nil
            return
        }
        let whole = TimeSpan.seconds(UInt64(duration.seconds))
        lease = Lease(
            renewal: start + part(of: whole, thousandths: 500), urgency: start + part(of: whole, thousandths: 875),
            end: start + whole)
    }

    /// A part of a span, up to a tenth shorter or longer, so that clients do not renew in step.
    private mutating func part(of whole: TimeSpan, thousandths: UInt64) -> TimeSpan {
        let middle = whole.nanoseconds / 1000 * thousandths
        return TimeSpan(nanoseconds: middle * 9 / 10 + random.below(middle / 5))
    }

    /// Whether what is in force will not stay: a lease that is granted meanwhile needs the snapshot once more.
    var isWithdrawing: Bool { inFlight?.change.reason == .withdrawal || waitingChange?.reason == .withdrawal }

    func isRenewalDue(_ now: Instant) -> Bool { lease.map { now >= $0.renewal } ?? false }

    mutating func serviceLease(_ now: Instant) {
        guard let lease else { return }
        if now >= lease.end {
            expire(now)
        } else if now >= lease.urgency, lease.stage < .urgent {
            self.lease?.stage = .urgent
            renew(now)
        } else if now >= lease.renewal, lease.stage < .renewing, isUp {
            self.lease?.stage = .renewing
            renew(now)
        }
    }

    private mutating func renew(_ now: Instant) {
        switch talk {
        case .waiting, .settled, .resting: probe(now)
        case .probing, .fetching, .releasing: break
        }
    }

    /// The gateway was silent to the end of the lease.
    ///
    /// Routes and kill switch stay unless the profile says otherwise.
    private mutating func expire(_ now: Instant) {
        lease = nil
        isExpired = true
        emit(.note(.leaseExpired))
        if policy.onLeaseExpiry == .withdraw {
            want(Change(policy.source == .pushPreferred ? .profile : .bare, .withdrawal), now)
        }
        if case .settled = talk { probe(now) }
    }

    mutating func beginRelease(_ now: Instant) {
        let wasTalking = isTalking
        life = .stopping
        inFlight = nil
        waitingChange = nil
        guard wasTalking, isUp, newest != nil else { return endRelease() }
        talk = .releasing(transaction: nextTransaction(), again: now, end: now + Self.releaseTime)
        serviceRelease(now)
    }

    mutating func serviceRelease(_ now: Instant) {
        guard case .releasing(let transaction, let again, let end) = talk else { return }
        guard now < end else { return endRelease() }
        guard let again, now >= again else { return }
        let isFirst = again + Self.releaseTime == end
        talk = .releasing(transaction: transaction, again: isFirst ? again + Self.secondRelease : nil, end: end)
        emit(.send(Message(transaction: transaction, body: .release).bytes))
    }

    mutating func finishRelease(_ message: Message) {
        guard case .releasing(let transaction, _, _) = talk, message.transaction == transaction,
            message.body == .releaseAcknowledgement
        else { return }
        endRelease()
    }

    private mutating func endRelease() {
        life = .ended
        emit(.released)
    }

    /// The next instant at which something is due.
    var nextDeadline: Instant? {
        if case .releasing(_, let again, let end) = talk, life == .stopping { return min(again ?? end, end) }
        guard isTalking else { return nil }
        var deadlines = [startDeadline, report?.exchange.next]
        switch talk {
        case .probing(let exchange): deadlines.append(exchange.next)
        case .fetching(let fetch): deadlines.append(fetch.exchange.next)
        case .resting(let until, false): deadlines.append(until)
        case .waiting, .settled, .resting, .releasing: break
        }
        if let confirmation {
            deadlines.append(min(confirmation.exchange.nextTry ?? confirmation.deadline, confirmation.deadline))
        }
        if let lease { deadlines.append(lease.nextDeadline(isUp: isUp)) }
        // Waiting for the host's answer needs no timer.
        if inFlight == nil, waitingChange != nil { deadlines.append(rate.next) }
        return deadlines.compactMap(\.self).min()
    }
}

extension ClientMachine.Lease {
    fileprivate func nextDeadline(isUp: Bool) -> Instant {
        switch stage {
        case .fresh: isUp ? renewal : urgency
        case .renewing: urgency
        case .urgent: end
        }
    }
}
