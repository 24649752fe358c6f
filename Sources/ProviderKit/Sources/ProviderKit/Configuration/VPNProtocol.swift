/// What the protocol configurations have in common (Network Extension's `NEVPNProtocol`).
///
/// The shared properties are read and written as if they were the configuration's own: `configuration.serverAddress`.
@dynamicMemberLookup
public protocol VPNProtocol: Sendable, Equatable, Codable {
    /// The properties of every protocol.
    var common: VPNProtocolValues { get set }
}

extension VPNProtocol {
    public subscript<Value>(dynamicMember member: WritableKeyPath<VPNProtocolValues, Value>) -> Value {
        get { common[keyPath: member] }
        set { common[keyPath: member] = newValue }
    }
}

/// The properties of every protocol configuration, with Network Extension's names and defaults.
public struct VPNProtocolValues: Sendable, Equatable {
    /// The server, in the form that the protocol expects; a configuration without one is invalid.
    public var serverAddress: String?
    /// The name to authenticate with.
    public var username: String?
    /// The password: a keychain item of class generic password.
    public var passwordReference: KeychainReference?
    /// The certificate to authenticate with: a keychain item of class identity.
    public var identityReference: KeychainReference?
    /// The certificate to authenticate with, in PKCS#12; tunnel providers do not get it.
    @Redacted public var identityData: [UInt8]?
    /// The password of ``identityData``.
    @Redacted public var identityDataPassword: String?
    /// Whether the session is stopped when the machine sleeps.
    public var disconnectOnSleep = false
    /// The proxies while the session is up.
    public var proxySettings: ProxySettings?
    /// Whether all traffic must go through the tunnel, and is dropped while it is not connected.
    public var includeAllNetworks = false
    /// Whether local networks stay outside; acts with ``includeAllNetworks`` or ``enforceRoutes``.
    public var excludeLocalNetworks = false
    /// Whether services of the cellular network stay outside; acts with ``includeAllNetworks``.
    public var excludeCellularServices = true
    /// Whether push notifications stay outside; acts with ``includeAllNetworks``.
    public var excludeAPNs = true
    /// Whether traffic to companion devices stays outside; acts with ``includeAllNetworks``.
    public var excludeDeviceCommunication = true
    /// Whether included and excluded routes win over the system's own; without effect with ``includeAllNetworks``.
    public var enforceRoutes = false

    /// Makes the properties of a configuration in which nothing is set.
    public init() {}
}

extension VPNProtocolValues: Codable {
    private enum CodingKeys: String, CodingKey {
        case serverAddress, username, passwordReference, identityReference, identityData, identityDataPassword
        case disconnectOnSleep, proxySettings, includeAllNetworks, excludeLocalNetworks, excludeCellularServices
        case excludeAPNs, excludeDeviceCommunication, enforceRoutes
    }

    /// Reads what is there; a missing property has its default, so values of earlier versions stay readable.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        serverAddress = try values.decodeIfPresent(String.self, forKey: .serverAddress)
        username = try values.decodeIfPresent(String.self, forKey: .username)
        passwordReference = try values.decodeIfPresent(KeychainReference.self, forKey: .passwordReference)
        identityReference = try values.decodeIfPresent(KeychainReference.self, forKey: .identityReference)
        identityData = try values.decodeIfPresent([UInt8].self, forKey: .identityData)
        identityDataPassword = try values.decodeIfPresent(String.self, forKey: .identityDataPassword)
        proxySettings = try values.decodeIfPresent(ProxySettings.self, forKey: .proxySettings)
        disconnectOnSleep = try values.decode(.disconnectOnSleep, default: false)
        includeAllNetworks = try values.decode(.includeAllNetworks, default: false)
        excludeLocalNetworks = try values.decode(.excludeLocalNetworks, default: false)
        excludeCellularServices = try values.decode(.excludeCellularServices, default: true)
        excludeAPNs = try values.decode(.excludeAPNs, default: true)
        excludeDeviceCommunication = try values.decode(.excludeDeviceCommunication, default: true)
        enforceRoutes = try values.decode(.enforceRoutes, default: false)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(serverAddress, forKey: .serverAddress)
        try values.encodeIfPresent(username, forKey: .username)
        try values.encodeIfPresent(passwordReference, forKey: .passwordReference)
        try values.encodeIfPresent(identityReference, forKey: .identityReference)
        try values.encodeIfPresent(identityData, forKey: .identityData)
        try values.encodeIfPresent(identityDataPassword, forKey: .identityDataPassword)
        try values.encodeIfPresent(proxySettings, forKey: .proxySettings)
        try values.encode(disconnectOnSleep, forKey: .disconnectOnSleep)
        try values.encode(includeAllNetworks, forKey: .includeAllNetworks)
        try values.encode(excludeLocalNetworks, forKey: .excludeLocalNetworks)
        try values.encode(excludeCellularServices, forKey: .excludeCellularServices)
        try values.encode(excludeAPNs, forKey: .excludeAPNs)
        try values.encode(excludeDeviceCommunication, forKey: .excludeDeviceCommunication)
        try values.encode(enforceRoutes, forKey: .enforceRoutes)
    }
}

extension KeyedDecodingContainer {
    /// The value of a key, or its default where the key is missing.
    func decode<Value: Decodable>(_ key: Key, default value: Value) throws -> Value {
        try decodeIfPresent(Value.self, forKey: key) ?? value
    }
}
