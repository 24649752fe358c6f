public import ProviderKit

/// What is known of the session of a configuration at one moment.
public struct SessionState: Codable, Sendable, Equatable {
    /// The configuration.
    public var identifier: String
    /// Its status.
    public var status: VPNStatus
    /// The virtual interface; nil while there is none.
    public var interface: String?
    /// When the tunnel came up, in seconds since 1970; stays while it reasserts.
    public var connectedSince: Double?
    /// The error of the last disconnect.
    public var error: TunnelFailure?
    /// Which run of the manager says so.
    public var service: String
    /// Grows with every change of any session within one run of the manager.
    public var sequence: Int

    /// Makes a state of a configuration whose session never ran.
    public init(identifier: String, status: VPNStatus, service: String, sequence: Int) {
        self.identifier = identifier
        self.status = status
        self.service = service
        self.sequence = sequence
    }

    private enum CodingKeys: String, CodingKey {
        case identifier, status, interface, connectedSince, error, service, sequence
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        identifier = try container.decode(String.self, forKey: .identifier)
        status = try VPNStatus(word: container.decode(String.self, forKey: .status))
        interface = try container.decodeIfPresent(String.self, forKey: .interface)
        connectedSince = try container.decodeIfPresent(Double.self, forKey: .connectedSince)
        error = try container.decodeIfPresent(FailureMessage.self, forKey: .error)?.failure
        service = try container.decode(String.self, forKey: .service)
        sequence = try container.decode(Int.self, forKey: .sequence)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(identifier, forKey: .identifier)
        try container.encode(status.description, forKey: .status)
        try container.encodeIfPresent(interface, forKey: .interface)
        try container.encodeIfPresent(connectedSince, forKey: .connectedSince)
        try container.encodeIfPresent(error.map(FailureMessage.init), forKey: .error)
        try container.encode(service, forKey: .service)
        try container.encode(sequence, forKey: .sequence)
    }
}

extension VPNStatus {
    /// The status of a word of the wire; one that is not known counts as invalid.
    fileprivate init(word: String) {
        let known: [VPNStatus] = [.disconnected, .connecting, .connected, .reasserting, .disconnecting]
        self = known.first { $0.description == word } ?? .invalid
    }
}
