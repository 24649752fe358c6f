public import WireGuard

/// What a gateway begins by itself: NOTIFY when a snapshot changed, GOAWAY when a peer is to leave.
extension GatewayMachine {
    /// Announcements of changes wait for this much quiet, so that a row of edits is one change.
    private static let quiet = TimeSpan.milliseconds(250)
    /// They wait no longer than this after the first edit.
    private static let longestWait = TimeSpan.seconds(2)
    private static let longestNoticeDelay = TimeSpan.seconds(60)

    /// Says that what a peer is offered may have changed: it is told once the changes have settled, if it is there.
    public mutating func snapshotChanged(of key: PublicKey, now: Instant) {
        touch(key, now)
        let first = peers[key]?.change?.first ?? now
        peers[key]?.change = (min(now + Self.quiet, first + Self.longestWait), first)
        schedule(key)
    }

    /// Orders a peer to leave; ``GatewayOutput/left(_:)`` says when it has the order or does not answer.
    public mutating func sendGoAway(_ order: GoAway, to key: PublicKey, now: Instant) {
        touch(key, now)
        let transaction = UInt32(truncatingIfNeeded: random.next())
        peers[key]?.goAway = Retransmission(Message(transaction: transaction, body: .goAway(order)), at: now)
        serviceGoAway(key, now)
        schedule(key)
    }

    /// When ``handleTimeout(now:source:)`` is due, or before; nil for never.
    public var nextTimeout: Instant? { pending.isEmpty ? nil : earliest }

    /// Does what is due.
    public mutating func handleTimeout(now: Instant, source: inout some SnapshotSource) {
        guard now >= earliest else { return }
        earliest = .distantFuture
        for key in pending {
            announceChange(key, now, &source)
            serviceNotice(key, now)
            serviceGoAway(key, now)
            schedule(key)
        }
    }

    /// Has a peer looked at when its next deadline comes; takes it off the list when it has none.
    mutating func schedule(_ key: PublicKey) {
        guard let deadline = peers[key]?.nextTimeout else {
            pending.remove(key)
            return
        }
        pending.insert(key)
        earliest = min(earliest, deadline)
    }

    /// Forgets peers whose sessions are gone; to be called now and then, for instance every minute.
    public mutating func forgetIdlePeers(now: Instant) {
        for (key, peer) in peers where !peer.isUp && !pending.contains(key) {
            guard peer.notice == nil, peers[key]?.budget.isFull(at: now) == true else { continue }
            peers[key] = nil
        }
    }

    private mutating func announceChange(_ key: PublicKey, _ now: Instant, _ source: inout some SnapshotSource) {
        guard let change = peers[key]?.change, now >= change.due else { return }
        peers[key]?.change = nil
        guard let version = source.currentSnapshot(of: key)?.version, version != peers[key]?.holding else {
            // Changed there and back: the peer has what it is offered.
            peers[key]?.notice = nil
            return
        }
        peers[key]?.notice = Announcement(
            version: version, transaction: UInt32(truncatingIfNeeded: random.next()), delay: .seconds(1), next: now)
    }

    /// Ends the announcement of a snapshot that the peer has dealt with.
    mutating func endNotice(of version: SnapshotVersion, _ key: PublicKey) {
        guard peers[key]?.notice?.version == version else { return }
        peers[key]?.notice = nil
    }

    private mutating func serviceNotice(_ key: PublicKey, _ now: Instant) {
        guard peers[key]?.isUp == true, let notice = peers[key]?.notice, now >= notice.next else { return }
        peers[key]?.notice?.next = now + notice.delay
        let doubled = TimeSpan(nanoseconds: notice.delay.nanoseconds * 2)
        peers[key]?.notice?.delay = min(doubled, Self.longestNoticeDelay)
        send(.notify(notice.version), notice.transaction, key, now)
    }

    private mutating func serviceGoAway(_ key: PublicKey, _ now: Instant) {
        guard var order = peers[key]?.goAway, now >= order.next else { return }
        guard !order.isExhausted(at: now) else {
            peers[key]?.goAway = nil
            emit(.left(key))
            return
        }
        order.noteSent(at: now, random: &random)
        peers[key]?.goAway = order
        send(order.bytes, key, now)
    }
}

extension GatewayMachine.Peer {
    /// When something is due for the peer; a notice for a peer that is away waits for its next session.
    fileprivate var nextTimeout: Instant? {
        [change?.due, isUp ? notice?.next : nil, goAway?.next].compactMap { $0 }.min()
    }
}
