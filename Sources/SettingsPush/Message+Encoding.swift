/// A message as bytes: header, then its values in ascending order.
extension Message {
    /// The payload of the datagram, at most ``maximumByteCount`` bytes.
    public var bytes: [UInt8] {
        var writer = WireWriter()
        let head = header
        writer.write(Message.version)
        writer.write(head.type.rawValue)
        writer.write(UInt16(0))
        writer.write(transaction)
        writer.write(head.index)
        writer.write(head.count)
        writer.write(head.byteCount)
        body.write(to: &writer)
        return writer.bytes
    }

    private struct Header {
        var type: MessageType
        var index: UInt16 = 0
        var count: UInt16 = 0
        var byteCount: UInt32 = 0
    }

    private var header: Header {
        switch body {
        case .hello: Header(type: .hello)
        case .helloAcknowledgement: Header(type: .helloAcknowledgement)
        case .get(let get): Header(type: .get, index: get.first, count: get.count)
        case .block(let block):
            Header(type: .block, index: block.index, count: block.count, byteCount: block.byteCount)
        case .result: Header(type: .result)
        case .resultAcknowledgement: Header(type: .resultAcknowledgement)
        case .notify: Header(type: .notify)
        case .release: Header(type: .release)
        case .releaseAcknowledgement: Header(type: .releaseAcknowledgement)
        case .goAway: Header(type: .goAway)
        case .goAwayAcknowledgement: Header(type: .goAwayAcknowledgement)
        case .error: Header(type: .error)
        }
    }
}

extension Message.Body {
    fileprivate func write(to writer: inout WireWriter) {
        switch self {
        case .hello(let hello): hello.write(to: &writer)
        case .helloAcknowledgement(let answer): answer.write(to: &writer)
        case .get(let get):
            writer.write(.snapshot, get.version)
            writer.write(.blockSize) { $0.write(get.blockSize.rawValue) }
        case .block(let block):
            writer.write(.snapshot, block.version)
            writer.write(.blockBytes) { $0.write(block.bytes) }
        case .result(let result):
            writer.write(.snapshot, result.version)
            writer.write(.outcome) { $0.write(result.status.rawValue) }
            guard !result.findings.isEmpty else { return }
            writer.write(.findings) {
                for finding in result.findings {
                    $0.write(finding.section)
                    $0.write(finding.index)
                    $0.write(finding.reason.rawValue)
                }
            }
        case .resultAcknowledgement(let version), .notify(let version): writer.write(.snapshot, version)
        case .release, .releaseAcknowledgement, .goAwayAcknowledgement: break
        case .goAway(let order):
            writer.write(.goAway) {
                $0.write(order.action.rawValue)
                $0.write(order.delaySeconds)
            }
        case .error(let reason):
            writer.write(.versions) { $0.writeVersions() }
            writer.write(.error) { $0.write(reason.rawValue) }
        }
    }
}

extension Hello {
    fileprivate func write(to writer: inout WireWriter) {
        writer.write(.nonce) { $0.write(nonce) }
        writer.write(.versions) { $0.writeVersions() }
        writer.write(.capabilities) { $0.write(capabilities.rawValue) }
        writer.write(.limits) {
            $0.write(limits.byteCount)
            $0.write(limits.routeCount)
        }
        writer.write(.snapshot, holding)
        writer.write(.families) { $0.write(families.rawValue) }
    }
}

extension HelloAcknowledgement {
    fileprivate func write(to writer: inout WireWriter) {
        writer.write(.nonce) { $0.write(nonce) }
        writer.write(.versions) { $0.writeVersions() }
        writer.write(.capabilities) { $0.write(capabilities.rawValue) }
        switch answer {
        case .offer(let version, let byteCount, let lease, let inline):
            writer.write(.snapshot, version)
            writer.write(.answer) { $0.write(AnswerCode.ok.rawValue) }
            writer.write(.lease) { $0.write(lease.seconds) }
            writer.write(.byteCount) { $0.write(byteCount) }
            if let inline { writer.write(.inline) { $0.write(inline) } }
        case .unchanged(let version, let lease):
            writer.write(.snapshot, version)
            writer.write(.answer) { $0.write(AnswerCode.unchanged.rawValue) }
            writer.write(.lease) { $0.write(lease.seconds) }
        case .refused(let reason):
            writer.write(.answer) {
                $0.write(AnswerCode.refused.rawValue)
                $0.write(reason.rawValue)
            }
        case .poolExhausted(let delay):
            writer.write(.answer) {
                $0.write(AnswerCode.poolExhausted.rawValue)
                $0.write(delay)
            }
        case .busy(let delay):
            writer.write(.answer) {
                $0.write(AnswerCode.busy.rawValue)
                $0.write(delay)
            }
        }
    }
}

extension WireWriter {
    fileprivate mutating func write(_ type: MessageValue, _ body: (inout WireWriter) -> Void) {
        var content = WireWriter()
        body(&content)
        write(type.rawValue)
        write(UInt16(content.bytes.count))
        write(content.bytes)
    }

    fileprivate mutating func write(_ type: MessageValue, _ version: SnapshotVersion) {
        write(type) {
            $0.write(version.epoch)
            $0.write(version.serial)
            $0.write(version.digest)
        }
    }

    /// Lowest and highest version of the protocol, as a HELLO and an ERROR say it; the only one of an answer.
    fileprivate mutating func writeVersions() {
        write(Message.version)
        write(Message.version)
    }
}
