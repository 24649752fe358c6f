import WireGuard

/// The conversation: HELLO, the blocks of a snapshot, and when to rest.
extension ClientMachine {
    private static let restMinutes: [UInt64] = [1, 2, 5, 10]
    /// Conversations begun anew in a row before a rest.
    private static let maximumRestarts = 4

    mutating func resumeTalk(wasLost: Bool, _ now: Instant) {
        switch talk {
        case .waiting: probe(now)
        case .resting(let until, true) where now >= until: probe(now)
        // A NOTIFY may have been missed, or a renewal was due while there was no session.
        case .settled where wasLost || isExpired || isRenewalDue(now): probe(now)
        case .probing, .fetching, .settled, .resting, .releasing: break
        }
    }

    /// Sends a HELLO.
    mutating func probe(_ now: Instant) {
        let holding = isRefetching || isWithdrawing ? .none : applied.version ?? .none
        let hello = Hello(
            nonce: nonce, capabilities: .all, limits: policy.limits, holding: holding, families: families)
        talk = .probing(Retransmission(Message(transaction: nextTransaction(), body: .hello(hello)), at: now))
        serviceTalk(now)
    }

    mutating func nextTransaction() -> UInt32 { UInt32(truncatingIfNeeded: random.next()) }

    mutating func serviceTalk(_ now: Instant) {
        switch talk {
        case .probing(var exchange) where now >= exchange.next:
            guard !exchange.isExhausted(at: now) else { return giveUpProbing(now) }
            exchange.noteSent(at: now, random: &random)
            talk = .probing(exchange)
            emit(.send(exchange.bytes))
        case .fetching(let fetch) where now >= fetch.exchange.next: continueFetch(fetch, now)
        case .resting(let until, false) where now >= until: probe(now)
        case .waiting, .probing, .fetching, .settled, .resting, .releasing: break
        }
    }

    mutating func receive(_ message: Message, _ now: Instant) {
        switch message.body {
        case .helloAcknowledgement(let answer): receive(answer, message.transaction, now)
        case .block(let block): receive(block, message.transaction, now)
        case .resultAcknowledgement(let version): receiveAcknowledgement(of: version, message.transaction)
        case .notify(let version): receiveNotice(of: version, now)
        case .goAway(let order): receive(order, message.transaction, now)
        case .error(let reason): receiveError(reason, message.transaction, now)
        case .hello, .get, .result, .release, .releaseAcknowledgement, .goAwayAcknowledgement: break
        }
    }

    private mutating func receive(_ answer: HelloAcknowledgement, _ transaction: UInt32, _ now: Instant) {
        guard case .probing(let exchange) = talk, exchange.transaction == transaction, answer.nonce == nonce else {
            return
        }
        switch answer.answer {
        case .offer(let version, let byteCount, let duration, let inline):
            grant(duration, from: exchange.firstSent)
            consider(version, byteCount, inline, now)
        case .unchanged(let version, let duration):
            // What this client does not hold cannot be unchanged.
            guard version == applied.version, !isRefetching, !isWithdrawing else { return restart(now) }
            grant(duration, from: exchange.firstSent)
            rests = 0
            settle()
        case .refused(let reason):
            emit(.note(.notGranted(answer.answer)))
            rest(now, needsSession: true)
            startWithoutGateway(.refused(reason), now)
        case .poolExhausted(let delay):
            emit(.note(.notGranted(answer.answer)))
            rest(now, seconds: delay)
            startWithoutGateway(.poolExhausted, now)
        case .busy(let delay): rest(now, seconds: delay)
        }
    }

    /// Decides whether an offered snapshot is fetched.
    private mutating func consider(
        _ version: SnapshotVersion, _ byteCount: UInt32, _ inline: [UInt8]?, _ now: Instant
    ) {
        if let newest, newest.epoch == version.epoch {
            guard version.serial >= newest.serial else {
                emit(.note(.staleSerial(version.serial)))
                return settle()
            }
            if version.serial == newest.serial, version.digest != newest.digest {
                guard isRefetching else { return refetch(version, now) }
            } else if isKnown(version) {
                return settle()
            }
        }
        guard byteCount <= policy.limits.byteCount else {
            reject(version, [SettingsFinding(.oversized)], now)
            return
        }
        if let inline { return complete(version, inline, now) }
        fetch(version, byteCount, .standard, now)
    }

    /// Whether a snapshot is in force, on its way there, or was refused.
    private func isKnown(_ version: SnapshotVersion) -> Bool {
        let isPending = inFlight?.change.desired.version == version || waitingChange?.desired.version == version
        return isPending || version == refused?.version || version == applied.version && !isWithdrawing
    }

    private mutating func refetch(_ version: SnapshotVersion, _ now: Instant) {
        emit(.note(.serialConflict(version.serial)))
        emit(.send(Message(transaction: nextTransaction(), body: .error(.serialConflict)).bytes))
        isRefetching = true
        probe(now)
    }

    private mutating func fetch(
        _ version: SnapshotVersion, _ byteCount: UInt32, _ size: BlockSize, _ now: Instant
    ) {
        guard let assembly = Reassembly(version, byteCount: byteCount, blockSize: size, limits: policy.limits) else {
            return restart(now)
        }
        request(assembly, nextTransaction(), losses: 0, now)
    }

    /// Asks for the first run of missing blocks, as a message of its own five tries.
    private mutating func request(_ assembly: Reassembly, _ transaction: UInt32, losses: Int, _ now: Instant) {
        guard let get = assembly.request else { return }
        var exchange = Retransmission(Message(transaction: transaction, body: .get(get)), at: now)
        exchange.noteSent(at: now, random: &random)
        talk = .fetching(Fetch(assembly: assembly, exchange: exchange, outstanding: Int(get.count), losses: losses))
        emit(.send(exchange.bytes))
    }

    /// A GET had its time: what is missing is asked for again, in smaller blocks when two were lost whole.
    private mutating func continueFetch(_ fetch: Fetch, _ now: Instant) {
        let assembly = fetch.assembly
        if fetch.progressed { return request(assembly, fetch.exchange.transaction, losses: 0, now) }
        if fetch.losses + 1 == 2, assembly.blockSize == .standard {
            return self.fetch(assembly.version, assembly.byteCount, .small, now)
        }
        guard !fetch.exchange.isExhausted(at: now) else { return rest(now, needsSession: false) }
        var next = fetch
        next.losses += 1
        next.exchange.noteSent(at: now, random: &random)
        talk = .fetching(next)
        emit(.send(next.exchange.bytes))
    }

    private mutating func receive(_ block: Block, _ transaction: UInt32, _ now: Instant) {
        guard case .fetching(var fetch) = talk, fetch.exchange.transaction == transaction else { return }
        // The bytes have one owner while they grow.
        talk = .waiting
        if fetch.assembly.add(block) {
            fetch.progressed = true
            fetch.outstanding -= 1
        }
        if let bytes = fetch.assembly.snapshot { return complete(fetch.assembly.version, bytes, now) }
        guard fetch.outstanding > 0 else { return request(fetch.assembly, transaction, losses: 0, now) }
        talk = .fetching(fetch)
    }

    private mutating func receiveNotice(of version: SnapshotVersion, _ now: Instant) {
        let isNewer = newest.map { $0.epoch != version.epoch || $0.serial < version.serial } ?? true
        guard isNewer || version == applied.version && confirmation == nil else {
            // The gateway has not heard of the end of this one.
            if let refused, refused.version == version, report == nil { report(refused, now) }
            return
        }
        switch talk {
        case .fetching(let fetch) where fetch.assembly.version != version: restart(now)
        case .waiting, .settled, .resting: probe(now)
        case .probing, .fetching, .releasing: break
        }
    }

    private mutating func receiveError(_ reason: ReasonCode, _ transaction: UInt32, _ now: Instant) {
        switch talk {
        case .probing(let exchange) where exchange.transaction == transaction: giveUpProbing(now)
        case .fetching(let fetch) where fetch.exchange.transaction == transaction:
            if reason == .staleVersion { restart(now) } else { rest(now, needsSession: false) }
        case .waiting, .probing, .fetching, .settled, .resting, .releasing: break
        }
    }

    private mutating func receive(_ order: GoAway, _ transaction: UInt32, _ now: Instant) {
        emit(.send(Message(transaction: transaction, body: .goAwayAcknowledgement).bytes))
        guard lastGoAway != transaction else { return }
        lastGoAway = transaction
        rest(now, seconds: order.delaySeconds)
        emit(.leave(order))
    }

    mutating func giveUpProbing(_ now: Instant) {
        emit(.note(.unsupported))
        rest(now, needsSession: true)
        startWithoutGateway(.noAnswer, now)
    }

    /// The conversation came to its end.
    mutating func settle() {
        talk = .settled
        isRefetching = false
        restarts = 0
    }

    /// Begins the conversation anew, a few times; then rests.
    mutating func restart(_ now: Instant) {
        restarts += 1
        guard restarts <= Self.maximumRestarts else { return rest(now, needsSession: false) }
        probe(now)
    }

    mutating func rest(_ now: Instant, needsSession: Bool) {
        let minutes = Self.restMinutes[min(rests, Self.restMinutes.count - 1)]
        rests += 1
        restarts = 0
        isRefetching = false
        talk = .resting(until: now + .seconds(minutes * 60), needsSession: needsSession)
    }

    /// Rests as long as the gateway says, at most an hour.
    private mutating func rest(_ now: Instant, seconds: UInt32) {
        restarts = 0
        isRefetching = false
        talk = .resting(until: now + .seconds(UInt64(min(max(seconds, 1), 3600))), needsSession: false)
    }
}
