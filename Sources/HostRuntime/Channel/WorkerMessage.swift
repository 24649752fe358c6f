public import ProviderKit

/// What a worker tells the manager, which trusts none of it.
public enum WorkerMessage: ChannelMessage, Equatable {
    /// The longest text of a log line, in bytes of UTF-8.
    public static let logLineLimit = 4096

    /// The module is loaded and the provider exists.
    case ready
    /// The module could not be loaded; the worker ends.
    case failed(TunnelFailure)
    /// The start is done; nil when the tunnel is ready for traffic.
    case startCompleted(TunnelFailure?)
    /// The stop is done; the worker ends.
    case stopCompleted
    /// The provider stops the tunnel by itself.
    case cancelled(TunnelFailure?)
    /// The provider re-establishes the tunnel, or has done so.
    case reasserting(Bool)
    /// Replace the settings of the interface; answered by ``ManagerMessage/settingsCompleted(id:_:)``.
    case setSettings(id: UInt64, PacketTunnelNetworkSettings?)
    /// Open marked sockets; answered by ``ManagerMessage/udpSockets(id:_:)``.
    case openUDPSockets(id: UInt64, UDPSocketRequest)
    /// Run a command of the configuration, as UTF-8; answered by ``ManagerMessage/hookCompleted(id:_:)``.
    case runHook(id: UInt64, String)
    /// The provider's answer to the app message `id`.
    case appMessageReply(id: UInt64, [UInt8]?)
    /// What the provider says about the control connection `id`.
    case controlActivity(id: UInt64, ControlConnection.Activity)
    /// Tell of every change of the machine's networks from now on by ``ManagerMessage/hostNetworks(_:)``.
    case observeHostNetworks
    /// The provider is ready for sleep.
    case sleepCompleted(id: UInt64)
    /// One line for the log, at most ``logLineLimit`` bytes.
    case log(LogLevel, String)

    public var kind: UInt16 {
        switch self {
        case .ready: 101
        case .failed: 102
        case .startCompleted: 103
        case .stopCompleted: 104
        case .cancelled: 105
        case .reasserting: 106
        case .setSettings: 107
        case .openUDPSockets: 108
        case .appMessageReply(_, let bytes): bytes == nil ? 109 : 110
        case .sleepCompleted: 111
        case .log: 112
        case .runHook: 113
        case .controlActivity: 114
        case .observeHostNetworks: 115
        }
    }

    public var id: UInt64 {
        switch self {
        case .setSettings(let id, _), .openUDPSockets(let id, _), .runHook(let id, _), .appMessageReply(let id, _),
            .controlActivity(let id, _), .sleepCompleted(let id):
            id
        case .ready, .failed, .startCompleted, .stopCompleted, .cancelled, .reasserting, .observeHostNetworks, .log: 0
        }
    }

    public var descriptorCount: Int { 0 }

    public func encodeBody() throws(ChannelError) -> [UInt8] {
        let coder = BodyCoder(kind: kind)
        return switch self {
        case .failed(let failure): try coder.encode(failure)
        case .startCompleted(let failure), .cancelled(let failure): try coder.encode(failure)
        case .reasserting(let value): try coder.encode(value)
        case .setSettings(_, let settings): try coder.encode(settings)
        case .openUDPSockets(_, let request): try coder.encode(request)
        case .runHook(_, let command): try coder.encode(command)
        case .appMessageReply(_, let bytes): bytes ?? []
        case .log(let level, let text): try coder.encode(LogLine(level: level, text: text))
        case .controlActivity(_, let activity): try coder.encode(activity)
        case .ready, .stopCompleted, .observeHostNetworks, .sleepCompleted: []
        }
    }

    public init(kind: UInt16, id: UInt64, body: [UInt8]) throws(ChannelError) {
        let coder = BodyCoder(kind: kind)
        switch kind {
        case 101, 104, 109, 111, 115: try coder.expectEmpty(body)
        default: break
        }
        switch kind {
        case 101: self = .ready
        case 102: self = .failed(try coder.decode(TunnelFailure.self, body))
        case 103: self = .startCompleted(try coder.decodeOptional(TunnelFailure.self, body))
        case 104: self = .stopCompleted
        case 105: self = .cancelled(try coder.decodeOptional(TunnelFailure.self, body))
        case 106: self = .reasserting(try coder.decode(Bool.self, body))
        case 107: self = .setSettings(id: id, try coder.decodeOptional(PacketTunnelNetworkSettings.self, body))
        case 108: self = .openUDPSockets(id: id, try coder.decode(UDPSocketRequest.self, body))
        case 109: self = .appMessageReply(id: id, nil)
        case 110: self = .appMessageReply(id: id, body)
        case 111: self = .sleepCompleted(id: id)
        case 112:
            let line = try coder.decode(LogLine.self, body)
            guard line.text.utf8.count <= Self.logLineLimit else {
                throw .malformedBody(kind: kind, reason: "a line of \(line.text.utf8.count) bytes")
            }
            self = .log(line.level, line.text)
        case 113: self = .runHook(id: id, try coder.decode(String.self, body))
        case 115: self = .observeHostNetworks
        case 114: self = .controlActivity(id: id, try coder.decode(ControlConnection.Activity.self, body))
        default: throw .unknownMessage(kind: kind)
        }
    }
}

private struct LogLine: Codable {
    var level: LogLevel
    var text: String
}
