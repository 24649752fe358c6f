/// One of the three protocol objects that there are, as the store and the wire carry it.
public enum ProtocolConfiguration: Sendable, Equatable {
    /// A tunnel that a provider serves.
    case tunnelProvider(TunnelProviderProtocol)
    /// IKEv2.
    case ikev2(VPNProtocolIKEv2)
    /// IKEv1.
    case ipsec(VPNProtocolIPSec)

    /// Wraps one of the three protocol objects; nil for a type of somebody else's.
    public init?(_ configuration: any VPNProtocol) {
        switch configuration {
        case let configuration as TunnelProviderProtocol: self = .tunnelProvider(configuration)
        case let configuration as VPNProtocolIKEv2: self = .ikev2(configuration)
        case let configuration as VPNProtocolIPSec: self = .ipsec(configuration)
        default: return nil
        }
    }

    /// Makes an empty configuration of the protocol with this name.
    ///
    /// - Throws: ``VPNError`` for a protocol without an object: L2TP, PPTP, PPPoE and whatever else is asked for.
    public init(protocolName: String) throws(VPNError) {
        self =
            switch try ProtocolKind(named: protocolName) {
            case .tunnelProvider: .tunnelProvider(TunnelProviderProtocol(providerBundleIdentifier: ""))
            case .ikev2: .ikev2(VPNProtocolIKEv2())
            case .ipsec: .ipsec(VPNProtocolIPSec())
            }
    }

    /// Which of the three it is.
    public var kind: ProtocolKind {
        switch self {
        case .tunnelProvider: .tunnelProvider
        case .ikev2: .ikev2
        case .ipsec: .ipsec
        }
    }

    /// The configuration without its kind.
    public var object: any VPNProtocol {
        switch self {
        case .tunnelProvider(let configuration): configuration
        case .ikev2(let configuration): configuration
        case .ipsec(let configuration): configuration
        }
    }

    /// The properties of every protocol.
    public var common: VPNProtocolValues {
        get { object.common }
        set {
            switch self {
            case .tunnelProvider(var configuration):
                configuration.common = newValue
                self = .tunnelProvider(configuration)
            case .ikev2(var configuration):
                configuration.common = newValue
                self = .ikev2(configuration)
            case .ipsec(var configuration):
                configuration.common = newValue
                self = .ipsec(configuration)
            }
        }
    }
}

extension ProtocolConfiguration: Codable {
    private enum CodingKeys: String, CodingKey { case `protocol` }

    /// Reads the object that the key `protocol` names, out of the same level.
    public init(from decoder: any Decoder) throws {
        let name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .protocol)
        self =
            switch try ProtocolKind(named: name) {
            case .tunnelProvider: .tunnelProvider(try TunnelProviderProtocol(from: decoder))
            case .ikev2: .ikev2(try VPNProtocolIKEv2(from: decoder))
            case .ipsec: .ipsec(try VPNProtocolIPSec(from: decoder))
            }
    }

    public func encode(to encoder: any Encoder) throws {
        try object.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(kind.rawValue, forKey: .protocol)
    }
}

/// The protocols that a configuration can be made for.
public enum ProtocolKind: String, Sendable, Codable, CaseIterable {
    case tunnelProvider = "TunnelProvider"
    case ikev2 = "IKEv2"
    case ipsec = "IPSec"

    /// Finds a protocol by its name, in capitals or not.
    ///
    /// - Throws: ``VPNError``, code configurationInvalid, that says what exists instead.
    public init(named name: String) throws(VPNError) {
        let wanted = name.lowercased()
        if let kind = Self.allCases.first(where: { $0.rawValue.lowercased() == wanted }) {
            self = kind
            return
        }
        let withoutObject = ["l2tp": "L2TP", "pptp": "PPTP", "pppoe": "PPPoE"]
        throw VPNError(
            .configurationInvalid,
            cause: withoutObject[wanted].map { "\($0) has no protocol object: no configuration can be made for it." }
                ?? "There is no protocol \(name.debugDescription).",
            remedy: "Use TunnelProvider with a provider bundle, IKEv2, or IPSec.")
    }
}
