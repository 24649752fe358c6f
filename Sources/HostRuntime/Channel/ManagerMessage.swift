public import ProviderKit

/// What the manager tells a worker.
public enum ManagerMessage: ChannelMessage, Equatable {
    /// The first message: what to load and for which tunnel. Descriptors: the TUN device, then secrets where there are any.
    case configure(WorkerConfiguration)
    /// Start the provider with the caller's options.
    case start(options: [String: PropertyListValue]?)
    /// Stop the provider.
    case stop(ProviderStopReason)
    /// The settings request `id` is done; nil when the settings are in force.
    case settingsCompleted(id: UInt64, TunnelFailure?)
    /// Answers the request `id` for sockets. Descriptors: the IPv4 socket, then the IPv6 socket, where opened.
    case udpSockets(id: UInt64, UDPSocketsReply)
    /// The hook `id` is done; nil when its command exited with 0.
    case hookCompleted(id: UInt64, TunnelFailure?)
    /// A message of the app that owns the configuration.
    case appMessage(id: UInt64, [UInt8], wantsReply: Bool)
    /// A client connected to the control socket. One descriptor: the connection, which is called `id` from now on.
    case controlConnection(id: UInt64)
    /// The machine is about to sleep.
    case sleep(id: UInt64)
    /// The machine is awake again.
    case wake
    /// What the machine is connected to beside the tunnel: before the start, and on request with every change.
    case hostNetworks(HostNetworks)
    /// What the machine cannot give its effect of the settings that are in force: ahead of the completion that it belongs to,
    /// unless it is what was told last.
    case settingsShortfalls([SettingsShortfall])

    public var kind: UInt16 {
        switch self {
        case .configure: 1
        case .start: 2
        case .stop: 3
        case .settingsCompleted: 4
        case .udpSockets: 5
        case .appMessage(_, _, let wantsReply): wantsReply ? 6 : 7
        case .sleep: 8
        case .wake: 9
        case .hookCompleted: 10
        case .controlConnection: 11
        case .hostNetworks: 12
        case .settingsShortfalls: 13
        }
    }

    public var id: UInt64 {
        switch self {
        case .settingsCompleted(let id, _), .udpSockets(let id, _), .hookCompleted(let id, _),
            .appMessage(let id, _, _), .controlConnection(let id), .sleep(let id):
            id
        case .configure, .start, .stop, .wake, .hostNetworks, .settingsShortfalls: 0
        }
    }

    public var descriptorCount: Int {
        switch self {
        case .configure(let configuration): configuration.hasSecrets ? 2 : 1
        case .controlConnection: 1
        case .udpSockets(_, let reply): reply.descriptorCount
        default: 0
        }
    }

    public func encodeBody() throws(ChannelError) -> [UInt8] {
        let coder = BodyCoder(kind: kind)
        return switch self {
        case .configure(let configuration): try coder.encode(configuration)
        case .start(let options): try coder.encode(options)
        case .stop(let reason): try coder.encode(reason)
        case .settingsCompleted(_, let failure), .hookCompleted(_, let failure): try coder.encode(failure)
        case .udpSockets(_, let reply): try coder.encode(reply)
        case .appMessage(_, let bytes, _): bytes
        case .hostNetworks(let networks): try coder.encode(networks)
        case .settingsShortfalls(let shortfalls): try coder.encode(shortfalls)
        case .controlConnection, .sleep, .wake: []
        }
    }

    public init(kind: UInt16, id: UInt64, body: [UInt8]) throws(ChannelError) {
        let coder = BodyCoder(kind: kind)
        switch kind {
        case 1: self = .configure(try coder.decode(WorkerConfiguration.self, body))
        case 2: self = .start(options: try coder.decodeOptional([String: PropertyListValue].self, body))
        case 3: self = .stop(try coder.decode(ProviderStopReason.self, body))
        case 4: self = .settingsCompleted(id: id, try coder.decodeOptional(TunnelFailure.self, body))
        case 5: self = .udpSockets(id: id, try coder.decode(UDPSocketsReply.self, body))
        case 6, 7: self = .appMessage(id: id, body, wantsReply: kind == 6)
        case 8:
            try coder.expectEmpty(body)
            self = .sleep(id: id)
        case 9:
            try coder.expectEmpty(body)
            self = .wake
        case 10: self = .hookCompleted(id: id, try coder.decodeOptional(TunnelFailure.self, body))
        case 11:
            try coder.expectEmpty(body)
            self = .controlConnection(id: id)
        case 12: self = .hostNetworks(try coder.decode(HostNetworks.self, body))
        case 13: self = .settingsShortfalls(try coder.decode([SettingsShortfall].self, body))
        default: throw .unknownMessage(kind: kind)
        }
    }
}

/// What a worker needs to know before it loads a module.
public struct WorkerConfiguration: Sendable, Equatable, Codable {
    /// The directory of the bundle.
    public var bundlePath: String
    /// The shared library inside the bundle; checked by the manager before the worker starts.
    public var executablePath: String
    /// The name of the principal class, for messages.
    public var principalClass: String
    /// The configuration that the provider sees.
    public var protocolConfiguration: TunnelProviderProtocol
    /// The name of the virtual interface.
    public var interfaceName: String
    /// Whether on-demand rules started the tunnel.
    public var isOnDemand: Bool
    /// The length of the virtio_net_hdr of the TUN device, 0 for none.
    public var virtualHeaderLength: Int
    /// The MTU of the interface in bytes, nil while the provider's settings have not set one.
    public var mtu: Int?
    /// The least severe lines that the manager wants.
    public var logLevel: LogLevel
    /// The directory for what the provider keeps, nil where there is none.
    public var stateDirectory: String?
    /// Whether sealed memory with ``SessionSecrets`` comes along.
    public var hasSecrets = false

    /// Makes a configuration without state directory and secrets.
    public init(
        bundlePath: String, executablePath: String, principalClass: String,
        protocolConfiguration: TunnelProviderProtocol, interfaceName: String, isOnDemand: Bool,
        virtualHeaderLength: Int, mtu: Int?, logLevel: LogLevel
    ) {
        self.bundlePath = bundlePath
        self.executablePath = executablePath
        self.principalClass = principalClass
        self.protocolConfiguration = protocolConfiguration
        self.interfaceName = interfaceName
        self.isOnDemand = isOnDemand
        self.virtualHeaderLength = virtualHeaderLength
        self.mtu = mtu
        self.logLevel = logLevel
    }
}

/// The manager's answer to a request for UDP sockets.
public enum UDPSocketsReply: Sendable, Equatable, Codable {
    /// The families that are there, both bound to `port`.
    case opened(port: UInt16, hasIPv4: Bool, hasIPv6: Bool)
    /// Why there is no socket.
    case failed(TunnelFailure)

    var descriptorCount: Int {
        switch self {
        case .opened(_, let hasIPv4, let hasIPv6): (hasIPv4 ? 1 : 0) + (hasIPv6 ? 1 : 0)
        case .failed: 0
        }
    }
}
