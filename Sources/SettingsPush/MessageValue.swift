/// The types of the values in a message.
///
/// Bit 15 says that a receiver must understand the value.
enum MessageValue: UInt16, CaseIterable {
    case nonce = 0x8001
    case versions = 0x8002
    case capabilities = 0x8003
    case limits = 0x8004
    case snapshot = 0x8005
    case families = 0x8006
    case answer = 0x8007
    case lease = 0x8008
    case byteCount = 0x8009
    case inline = 0x800a
    case blockSize = 0x800b
    case blockBytes = 0x800c
    case outcome = 0x800d
    case findings = 0x800e
    case goAway = 0x800f
    case error = 0x8010
}

/// The second byte of a message.
enum MessageType: UInt8 {
    case hello = 1
    case helloAcknowledgement
    case get
    case block
    case result
    case resultAcknowledgement
    case notify
    case release
    case releaseAcknowledgement
    case goAway
    case goAwayAcknowledgement
    case error
}

/// The first byte of an answer to a HELLO.
enum AnswerCode: UInt8 {
    case ok = 0
    case unchanged
    case refused
    case poolExhausted
    case busy
}

/// The values of a message by their type: each at most once, in ascending order, none nested.
struct MessageValues {
    private var values: [MessageValue: WireReader] = [:]

    /// Splits the bytes behind the header.
    ///
    /// Unknown values that need not be understood are passed over.
    init(_ reader: inout WireReader) throws(SettingsFinding) {
        var previous: UInt16?
        while !reader.isAtEnd {
            let type = try reader.readUInt16()
            let order = type & ~SectionType.criticalBit
            if let previous {
                guard order != previous else { throw SettingsFinding(section: type, index: 0, reason: .duplicate) }
                guard order > previous else { throw SettingsFinding(section: type, index: 0, reason: .unsorted) }
            }
            previous = order
            let length = Int(try reader.readUInt16())
            let content = try reader.readPart(length)
            guard let known = MessageValue(rawValue: type) else {
                guard type & SectionType.criticalBit == 0 else {
                    throw SettingsFinding(section: type, index: 0, reason: .unknownCritical)
                }
                continue
            }
            values[known] = content
        }
    }

    /// Reads one value whole and takes it out.
    mutating func take<Value>(
        _ type: MessageValue, _ read: (inout WireReader) throws(SettingsFinding) -> Value
    ) throws(SettingsFinding) -> Value {
        guard var content = values.removeValue(forKey: type) else {
            throw SettingsFinding(section: type.rawValue, index: 0, reason: .missing)
        }
        do throws(SettingsFinding) {
            let value = try read(&content)
            try content.finish()
            return value
        } catch { throw SettingsFinding(section: type.rawValue, index: error.index, reason: error.reason) }
    }

    /// Whether a value is there.
    func has(_ type: MessageValue) -> Bool { values[type] != nil }

    /// Refuses values that do not belong into the message.
    func finish() throws(SettingsFinding) {
        guard let type = values.keys.map(\.rawValue).min() else { return }
        throw SettingsFinding(section: type, index: 0, reason: .badValue)
    }
}

extension WireReader {
    mutating func readVersion() throws(SettingsFinding) -> SnapshotVersion {
        SnapshotVersion(epoch: try readUInt128(), serial: try readUInt64(), digest: try readUInt128())
    }

    mutating func readFinding() throws(SettingsFinding) -> SettingsFinding {
        SettingsFinding(
            section: try readUInt16(), index: try readUInt16(), reason: ReasonCode(rawValue: try readUInt16()))
    }
}
