import WireGuard

/// The settings: checking a whole snapshot, applying one at a time, confirming it, and going back.
extension ClientMachine {
    private static let confirmationTime = TimeSpan.seconds(10)

    /// All bytes of a snapshot are here.
    mutating func complete(_ version: SnapshotVersion, _ bytes: [UInt8], _ now: Instant) {
        guard PublishedSnapshot.digest(of: bytes) == version.digest else { return countMismatch(version, now) }
        if newest?.epoch != version.epoch { refused = nil }
        newest = version
        let snapshot: Snapshot
        let ignored: [SettingsFinding]
        do throws(SettingsFinding) {
            (snapshot, ignored) = try Snapshot.decode(bytes, limits: policy.limits)
        } catch {
            reject(version, [error], now)
            return
        }
        var outcome = PolicyFilter(policy: policy, context: context).filter(snapshot)
        for finding in ignored { outcome.noteIgnored(finding) }
        lastOffer = .pushed(version, outcome)
        guard !outcome.isRejected else {
            reject(version, outcome.findings, now)
            return
        }
        settle()
        want(Change(.pushed(version, outcome), .settings), now)
    }

    /// The first time the conversation begins anew, the second time it rests.
    private mutating func countMismatch(_ version: SnapshotVersion, _ now: Instant) {
        emit(.send(Message(transaction: nextTransaction(), body: .error(.digestMismatch)).bytes))
        guard restarts == 0 else {
            finish(version, .rejected, .digestMismatch, now)
            return rest(now, needsSession: false)
        }
        restart(now)
    }

    /// Refuses a snapshot for good: what is in force stays.
    mutating func reject(_ version: SnapshotVersion, _ findings: [SettingsFinding], _ now: Instant) {
        let result = SettingsResult(version: version, status: .rejected, findings: findings)
        refused = result
        settle()
        emit(.note(.finished(result)))
        report(result, now)
        startWithoutGateway(.rejected(findings), now)
    }

    /// Has settings applied as soon as it may be; the latest wish wins.
    mutating func want(_ change: Change, _ now: Instant) {
        waitingChange = change
        serviceSettings(now)
    }

    mutating func serviceSettings(_ now: Instant) {
        guard inFlight == nil, let change = waitingChange else { return }
        if change.isLimited, !rate.allows(now) {
            if rate.isHolding(at: now), !isHeldBack { emit(.note(.heldBack)) }
            isHeldBack = rate.isHolding(at: now)
            return
        }
        if change.isLimited { rate.note(now) }
        isHeldBack = false
        waitingChange = nil
        lastID += 1
        inFlight = (lastID, change)
        emit(.apply(id: lastID, change.desired))
    }

    mutating func noteApplied(_ change: Change, _ now: Instant) {
        applied = change.desired
        switch change.desired {
        case .bare, .profile:
            confirmed = change.desired
            confirmation = nil
        case .pushed(let version, let outcome):
            guard change.reason == .settings else { break }
            confirm(SettingsResult(version: version, status: outcome.status, findings: outcome.findings), now)
        }
        if case .revert(let version) = change.reason {
            finish(version, .reverted, .notConfirmed, now)
        }
        guard life == .starting else { return }
        life = .started
        startDeadline = nil
        emit(.startCompleted)
    }

    mutating func noteFailed(_ change: Change, _ now: Instant) {
        switch change.desired {
        case .bare, .profile:
            // The host could not even apply these: nothing else is left to try.
            guard life == .starting else { return }
            life = .ended
            emit(.startFailed(.applyFailed))
        case .pushed(let version, _):
            // The way back failed: what is in force is not confirmed, but nothing better is at hand.
            guard change.reason == .settings else { return }
            finish(version, .failed, .applyFailed, now)
            guard isTalking else { return }
            if case .settled = talk { rest(now, needsSession: false) }
            startWithoutGateway(.applyFailed, now)
        }
    }

    /// Tells the gateway what is in force, and waits for its word that it knows.
    private mutating func confirm(_ result: SettingsResult, _ now: Instant) {
        confirmation = makeReport(result, now)
        serviceReports(now)
    }

    /// Notes the end of a snapshot that is not in force, and tells the gateway.
    private mutating func finish(
        _ version: SnapshotVersion, _ status: SettingsResult.Status, _ reason: ReasonCode, _ now: Instant
    ) {
        let result = SettingsResult(version: version, status: status, findings: [SettingsFinding(reason)])
        emit(.note(.finished(result)))
        report(result, now)
    }

    /// Tells the gateway of a snapshot that is not in force.
    mutating func report(_ result: SettingsResult, _ now: Instant) {
        report = makeReport(result, now)
        serviceReports(now)
    }

    private mutating func makeReport(_ result: SettingsResult, _ now: Instant) -> Report {
        let message = Message(transaction: nextTransaction(), body: .result(result))
        return Report(
            result: result, exchange: Retransmission(message, at: now), deadline: now + Self.confirmationTime)
    }

    mutating func serviceReports(_ now: Instant) {
        if let pending = confirmation {
            guard now < pending.deadline else {
                confirmation = nil
                takeBack(pending.result.version, now)
                return
            }
            confirmation?.exchange.serve(now, &random).map { emit(.send($0)) }
        }
        if let pending = report {
            guard !pending.exchange.isExhausted(at: now) else {
                report = nil
                return
            }
            report?.exchange.serve(now, &random).map { emit(.send($0)) }
        }
    }

    /// The gateway was out of reach with new settings: back to those that it was reached with.
    private mutating func takeBack(_ version: SnapshotVersion, _ now: Instant) {
        if case .settled = talk { rest(now, needsSession: false) }
        // Newer settings are under way, and have their own confirmation.
        guard inFlight == nil, waitingChange == nil, applied.version == version else { return }
        want(Change(confirmed, .revert(version)), now)
    }

    mutating func receiveAcknowledgement(of version: SnapshotVersion, _ transaction: UInt32) {
        if let pending = confirmation, pending.exchange.transaction == transaction, pending.result.version == version {
            confirmation = nil
            if applied.version == version { confirmed = applied }
            rests = 0
            emit(.note(.finished(pending.result)))
        }
        if let pending = report, pending.exchange.transaction == transaction, pending.result.version == version {
            report = nil
        }
    }
}

extension ClientMachine.Change {
    /// Rule 9 slows a gateway down, never the way back.
    var isLimited: Bool {
        guard case .pushed = desired else { return false }
        return reason == .settings
    }
}

extension Retransmission {
    /// The bytes to send if they are due and tries are left.
    mutating func serve(_ now: Instant, _ random: inout SeededRandom) -> [UInt8]? {
        guard now >= next, !isExhausted(at: now) else { return nil }
        noteSent(at: now, random: &random)
        return bytes
    }
}
