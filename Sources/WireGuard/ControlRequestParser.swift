/// Reads the operations of WireGuard's control protocol from bytes as they come.
///
/// An operation is a line `get=1` or `set=1`, lines `key=value`, and an empty line. One that is wrong anywhere is refused as
/// a whole, once its empty line has come, so that the next one is read from its beginning. No operation changes anything
/// before it has come to its end. Memory is bounded by ``lineLimit`` and ``changeLimit``.
public struct ControlRequestParser: Sendable {
    /// The longest line; those of the protocol have at most 80 bytes.
    public static let lineLimit = 256
    /// The most lines of one operation.
    public static let changeLimit = 1 << 20

    private enum Operation { case none, get, view, settings, set, unknown }

    private var line: [UInt8] = []
    private var isLineTooLong = false
    private var operation = Operation.none
    private var lineCount = 0
    private var failure: ControlStatus?
    private var settings = ControlSettings()

    /// Makes a parser at the beginning of a connection.
    public init() {}

    /// Takes the next bytes.
    ///
    /// - Parameter bytes: At most what one read gave.
    /// - Returns: The operations that they complete.
    public mutating func read(_ bytes: some Sequence<UInt8>) -> [ControlRequest] {
        var requests: [ControlRequest] = []
        for byte in bytes {
            if byte != UInt8(ascii: "\n") {
                if line.count < Self.lineLimit { line.append(byte) } else { isLineTooLong = true }
                continue
            }
            if let request = endLine() { requests.append(request) }
            for index in line.indices { line[index] = 0 }
            line.removeAll(keepingCapacity: true)
            isLineTooLong = false
        }
        return requests
    }

    private mutating func endLine() -> ControlRequest? {
        if line.isEmpty, !isLineTooLong { return endOperation() }
        guard operation != .none else {
            begin()
            return nil
        }
        lineCount += 1
        guard failure == nil else { return nil }
        guard lineCount <= Self.changeLimit else {
            refuse(.tooMany)
            return nil
        }
        guard operation == .set, !isLineTooLong, let end = line.firstIndex(of: UInt8(ascii: "=")) else {
            refuse(.invalid)
            return nil
        }
        let key = String(decoding: line[..<end], as: UTF8.self)
        let value = String(decoding: line[(end + 1)...], as: UTF8.self)
        if !settings.read(key, value) { refuse(.invalid) }
        return nil
    }

    private mutating func begin() {
        if !isLineTooLong, line.elementsEqual("get=1".utf8) {
            operation = .get
        } else if !isLineTooLong, line.elementsEqual("get=view".utf8) {
            operation = .view
        } else if !isLineTooLong, line.elementsEqual("get=settings".utf8) {
            operation = .settings
        } else if !isLineTooLong, line.elementsEqual("set=1".utf8) {
            operation = .set
        } else {
            operation = .unknown
            refuse(.invalid)
        }
    }

    private mutating func refuse(_ status: ControlStatus) {
        failure = status
        settings = ControlSettings()
    }

    private mutating func endOperation() -> ControlRequest? {
        defer {
            operation = .none
            lineCount = 0
            failure = nil
            settings = ControlSettings()
        }
        if let failure { return .refused(isSet: operation == .set, failure) }
        switch operation {
        case .none, .unknown: return nil
        case .get: return .get
        case .view: return .view
        case .settings: return .settings
        case .set: return .set(settings)
        }
    }
}
