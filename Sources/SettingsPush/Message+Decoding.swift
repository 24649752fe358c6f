extension Message {
    /// Reads the payload of a datagram.
    ///
    /// - Throws: Why it is no message. Nothing of it counts then: there is no part that could be trusted.
    public init(bytes: [UInt8]) throws(SettingsFinding) {
        guard bytes.count <= Self.maximumByteCount else { throw SettingsFinding(.oversized) }
        var reader = WireReader(bytes)
        guard try reader.readUInt8() == Self.version else { throw SettingsFinding(.unsupportedVersion) }
        guard let type = MessageType(rawValue: try reader.readUInt8()) else { throw SettingsFinding(.unknownMessage) }
        guard try reader.readUInt16() == 0 else { throw SettingsFinding(.nonCanonical) }
        transaction = try reader.readUInt32()
        let blocks = BlockFields(index: try reader.readUInt16(), count: try reader.readUInt16())
        let byteCount = try reader.readUInt32()
        // Only what speaks of blocks has anything in the block fields.
        if type != .get, type != .block {
            guard blocks.index == 0, blocks.count == 0 else { throw SettingsFinding(.nonCanonical) }
        }
        if type != .block { guard byteCount == 0 else { throw SettingsFinding(.nonCanonical) } }
        var values = try MessageValues(&reader)
        switch type {
        case .hello: body = .hello(try Hello(from: &values))
        case .helloAcknowledgement: body = .helloAcknowledgement(try HelloAcknowledgement(from: &values))
        case .get: body = .get(try GetRequest(from: &values, blocks))
        case .block: body = .block(try Block(from: &values, blocks, byteCount))
        case .result: body = .result(try SettingsResult(from: &values))
        case .resultAcknowledgement: body = .resultAcknowledgement(try values.takeVersion())
        case .notify: body = .notify(try values.takeVersion())
        case .release: body = .release
        case .releaseAcknowledgement: body = .releaseAcknowledgement
        case .goAway: body = .goAway(try GoAway(from: &values))
        case .goAwayAcknowledgement: body = .goAwayAcknowledgement
        case .error:
            try values.takeVersions()
            let reason = try values.take(.error) { (reader) throws(SettingsFinding) in try reader.readUInt16() }
            body = .error(ReasonCode(rawValue: reason))
        }
        try values.finish()
    }
}

/// The fields of the header that blocks use.
private struct BlockFields {
    var index: UInt16
    var count: UInt16
}

extension MessageValues {
    fileprivate mutating func takeVersion() throws(SettingsFinding) -> SnapshotVersion {
        try take(.snapshot) { (reader) throws(SettingsFinding) in try reader.readVersion() }
    }

    fileprivate mutating func takeUInt64(_ type: MessageValue) throws(SettingsFinding) -> UInt64 {
        try take(type) { (reader) throws(SettingsFinding) in try reader.readUInt64() }
    }

    fileprivate mutating func takeUInt32(_ type: MessageValue) throws(SettingsFinding) -> UInt32 {
        try take(type) { (reader) throws(SettingsFinding) in try reader.readUInt32() }
    }

    /// Refuses a range of versions that this one is not in.
    fileprivate mutating func takeVersions() throws(SettingsFinding) {
        try take(.versions) { (reader) throws(SettingsFinding) in
            let lowest = try reader.readUInt8()
            let highest = try reader.readUInt8()
            guard lowest <= highest else { throw SettingsFinding(.badValue) }
            guard (lowest...highest).contains(Message.version) else { throw SettingsFinding(.unsupportedVersion) }
        }
    }
}

extension Hello {
    fileprivate init(from values: inout MessageValues) throws(SettingsFinding) {
        nonce = try values.takeUInt64(.nonce)
        try values.takeVersions()
        capabilities = Capabilities(rawValue: try values.takeUInt64(.capabilities))
        limits = try values.take(.limits) { (reader) throws(SettingsFinding) in
            SnapshotLimits(byteCount: try reader.readUInt32(), routeCount: try reader.readUInt32())
        }
        holding = try values.takeVersion()
        families = try values.take(.families) { (reader) throws(SettingsFinding) in
            AddressFamilies(rawValue: try reader.readUInt8())
        }
    }
}

extension HelloAcknowledgement {
    fileprivate init(from values: inout MessageValues) throws(SettingsFinding) {
        nonce = try values.takeUInt64(.nonce)
        try values.takeVersions()
        capabilities = Capabilities(rawValue: try values.takeUInt64(.capabilities))
        let verdict = try values.take(.answer) { (reader) throws(SettingsFinding) -> (AnswerCode, UInt32) in
            guard let code = AnswerCode(rawValue: try reader.readUInt8()) else { throw SettingsFinding(.badValue) }
            switch code {
            case .ok, .unchanged: return (code, 0)
            case .refused: return (code, UInt32(try reader.readUInt16()))
            case .poolExhausted, .busy: return (code, try reader.readUInt32())
            }
        }
        switch verdict.0 {
        case .ok: answer = try Self.takeOffer(&values)
        case .unchanged: answer = .unchanged(try values.takeVersion(), lease: try Self.takeLease(&values))
        case .refused: answer = .refused(ReasonCode(rawValue: UInt16(truncatingIfNeeded: verdict.1)))
        case .poolExhausted: answer = .poolExhausted(retryAfterSeconds: verdict.1)
        case .busy: answer = .busy(retryAfterSeconds: verdict.1)
        }
    }

    private static func takeOffer(_ values: inout MessageValues) throws(SettingsFinding) -> Answer {
        let version = try values.takeVersion()
        let lease = try takeLease(&values)
        let byteCount = try values.takeUInt32(.byteCount)
        guard values.has(.inline) else { return .offer(version, byteCount: byteCount, lease: lease, inline: nil) }
        let inline = try values.take(.inline) { (reader) throws(SettingsFinding) in
            guard reader.remaining <= inlineByteCount else { throw SettingsFinding(.oversized) }
            guard reader.remaining == byteCount else { throw SettingsFinding(.badValue) }
            return reader.readRest()
        }
        return .offer(version, byteCount: byteCount, lease: lease, inline: inline)
    }

    private static func takeLease(_ values: inout MessageValues) throws(SettingsFinding) -> LeaseDuration {
        let seconds = try values.takeUInt32(.lease)
        let lease = LeaseDuration(seconds: seconds)
        guard lease.seconds == seconds else {
            throw SettingsFinding(section: MessageValue.lease.rawValue, index: 0, reason: .badValue)
        }
        return lease
    }
}

extension GetRequest {
    fileprivate init(from values: inout MessageValues, _ blocks: BlockFields) throws(SettingsFinding) {
        guard (1...Self.maximumCount).contains(Int(blocks.count)), blocks.index <= UInt16.max - blocks.count else {
            throw SettingsFinding(.badValue)
        }
        first = blocks.index
        count = blocks.count
        version = try values.takeVersion()
        blockSize = try values.take(.blockSize) { (reader) throws(SettingsFinding) in
            guard let size = BlockSize(rawValue: try reader.readUInt16()) else { throw SettingsFinding(.badValue) }
            return size
        }
    }
}

extension Block {
    fileprivate init(
        from values: inout MessageValues, _ blocks: BlockFields, _ byteCount: UInt32
    ) throws(SettingsFinding) {
        guard blocks.index < blocks.count, byteCount <= SnapshotLimits.hard.byteCount else {
            throw SettingsFinding(.badValue)
        }
        index = blocks.index
        count = blocks.count
        self.byteCount = byteCount
        version = try values.takeVersion()
        bytes = try values.take(.blockBytes) { (reader) throws(SettingsFinding) in
            guard (1...Int(BlockSize.standard.rawValue)).contains(reader.remaining) else {
                throw SettingsFinding(.badValue)
            }
            return reader.readRest()
        }
    }
}

extension SettingsResult {
    fileprivate init(from values: inout MessageValues) throws(SettingsFinding) {
        version = try values.takeVersion()
        status = try values.take(.outcome) { (reader) throws(SettingsFinding) in
            guard let status = Status(rawValue: try reader.readUInt8()) else { throw SettingsFinding(.badValue) }
            return status
        }
        findings = []
        guard values.has(.findings) else { return }
        findings = try values.take(.findings) { (reader) throws(SettingsFinding) in
            var findings: [SettingsFinding] = []
            guard !reader.isAtEnd else { throw SettingsFinding(.nonCanonical) }
            while !reader.isAtEnd {
                guard findings.count < SnapshotLimits.findingCount else { throw SettingsFinding(.tooManyItems) }
                findings.append(try reader.readFinding())
            }
            return findings
        }
    }
}

extension GoAway {
    fileprivate init(from values: inout MessageValues) throws(SettingsFinding) {
        let (action, delay) = try values.take(.goAway) { (reader) throws(SettingsFinding) -> (UInt8, UInt32) in
            (try reader.readUInt8(), try reader.readUInt32())
        }
        guard let known = Action(rawValue: action) else { throw SettingsFinding(.badValue) }
        self.action = known
        delaySeconds = delay
    }
}
