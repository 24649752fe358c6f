import WireGuard

/// What a gateway answers to HELLO and GET.
extension GatewayMachine {
    mutating func answer(
        _ hello: Hello, _ transaction: UInt32, _ key: PublicKey, _ now: Instant, _ source: inout some SnapshotSource
    ) {
        let answer: HelloAcknowledgement.Answer
        switch source.offer(to: key, families: hello.families) {
        case .snapshot(let snapshot, let lease): answer = offer(snapshot, lease, to: hello)
        case .refused(let reason): answer = .refused(reason)
        case .poolExhausted(let delay): answer = .poolExhausted(retryAfterSeconds: delay)
        case .busy(let delay): answer = .busy(retryAfterSeconds: delay)
        }
        if case .refused(let reason) = answer {
            peers[key]?.notice = nil
            emit(.refused(reason, key))
        }
        peers[key]?.holding = hello.holding
        // That it asked is not enough: of two answers to one HELLO it may use the older one.
        endNotice(of: hello.holding, key)
        let body = HelloAcknowledgement(nonce: hello.nonce, capabilities: .all, answer: answer)
        send(.helloAcknowledgement(body), transaction, key, now)
    }

    private func offer(
        _ snapshot: PublishedSnapshot, _ lease: LeaseDuration, to hello: Hello
    ) -> HelloAcknowledgement.Answer {
        guard hello.holding != snapshot.version else { return .unchanged(snapshot.version, lease: lease) }
        guard snapshot.bytes.count <= hello.limits.byteCount else { return .refused(.oversized) }
        guard Snapshot.criticalCapabilities(of: snapshot.bytes).isSubset(of: hello.capabilities) else {
            return .refused(.capabilityMissing)
        }
        let isInline = snapshot.bytes.count <= HelloAcknowledgement.inlineByteCount
        return .offer(
            snapshot.version, byteCount: UInt32(snapshot.bytes.count), lease: lease,
            inline: isInline ? snapshot.bytes : nil)
    }

    mutating func answer(
        _ get: GetRequest, _ transaction: UInt32, _ key: PublicKey, _ now: Instant, _ source: inout some SnapshotSource
    ) {
        guard let snapshot = source.currentSnapshot(of: key) else {
            send(.error(.staleVersion), transaction, key, now)
            return
        }
        guard snapshot.version == get.version else {
            send(.notify(snapshot.version), transaction, key, now)
            return
        }
        let size = Int(get.blockSize.rawValue)
        let count = (snapshot.bytes.count + size - 1) / size
        guard get.first < count else {
            send(.error(.badValue), transaction, key, now)
            return
        }
        for index in Int(get.first)..<min(count, Int(get.first) + Int(get.count)) {
            let part = snapshot.bytes[index * size..<min(snapshot.bytes.count, (index + 1) * size)]
            let block = Block(
                version: snapshot.version, index: UInt16(index), count: UInt16(count),
                byteCount: UInt32(snapshot.bytes.count), bytes: Array(part))
            // What does not fit the budget is asked for again.
            guard send(.block(block), transaction, key, now) else { return }
        }
    }
}

extension Snapshot {
    /// The capabilities without which a receiver must refuse canonical bytes.
    static func criticalCapabilities(of bytes: [UInt8]) -> Capabilities {
        var reader = WireReader(bytes)
        var needed: Capabilities = []
        while let type = try? reader.readUInt16(), let length = try? reader.readUInt32(),
            (try? reader.readPart(Int(length))) != nil
        {
            guard type & SectionType.criticalBit != 0, let section = SectionType(rawValue: type) else { continue }
            needed.insert(section.capability)
        }
        return needed
    }
}

extension Message {
    /// The transaction of bytes that are no message, where their sender is to be told; nil where that could go on for ever.
    static func transactionToRefuse(in bytes: [UInt8]) -> UInt32? {
        var reader = WireReader(bytes)
        guard let first = try? reader.readUInt32(), let transaction = try? reader.readUInt32() else { return nil }
        // An ERROR is never answered with another one.
        return UInt8(truncatingIfNeeded: first >> 16) == MessageType.error.rawValue ? nil : transaction
    }
}
