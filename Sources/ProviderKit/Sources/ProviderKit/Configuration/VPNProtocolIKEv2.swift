/// A configuration for IKEv2 (Network Extension's `NEVPNProtocolIKEv2`).
public struct VPNProtocolIKEv2: VPNProtocol {
    /// The properties of every protocol.
    public var common = VPNProtocolValues()
    /// How both ends prove who they are.
    public var authentication = VPNIKEAuthentication()
    /// How often a silent server is probed.
    public var deadPeerDetectionRate = VPNIKEv2DeadPeerDetectionRate.medium
    /// The common name of the issuer of the server's certificate; asked for in the request where it is set.
    public var serverCertificateIssuerCommonName: String?
    /// The common name of the server's certificate.
    public var serverCertificateCommonName: String?
    /// The kind of the machine's certificate.
    public var certificateType = VPNIKEv2CertificateType.RSA
    /// Whether the server's subnets are asked for.
    public var useConfigurationAttributeInternalIPSubnet = false
    /// The parameters of the IKE security association.
    public var ikeSecurityAssociationParameters = VPNIKEv2SecurityAssociationParameters(lifetimeMinutes: 60)
    /// The parameters of the child security association.
    public var childSecurityAssociationParameters = VPNIKEv2SecurityAssociationParameters(lifetimeMinutes: 30)
    /// Whether MOBIKE is off.
    public var disableMOBIKE = false
    /// Whether the server may not redirect.
    public var disableRedirect = false
    /// Whether a child association has a key exchange of its own.
    public var enablePFS = false
    /// Whether the server's certificate is looked up in revocation lists.
    public var enableRevocationCheck = false
    /// Whether a revocation check without a result is a failure.
    public var strictRevocationCheck = false
    /// The oldest TLS version for EAP-TLS.
    public var minimumTLSVersion = VPNIKEv2TLSVersion.versionDefault
    /// The newest TLS version for EAP-TLS.
    public var maximumTLSVersion = VPNIKEv2TLSVersion.versionDefault
    /// The MTU of the interface.
    public var mtu = 1280
    /// A preshared key beside the key exchange (RFC 8784).
    public var ppkConfiguration: VPNIKEv2PPKConfiguration?
    /// Whether a server without post-quantum key exchange is accepted.
    public var allowPostQuantumKeyExchangeFallback = false

    /// Makes a configuration in which nothing is set.
    public init() {}

    public subscript<Value>(dynamicMember member: WritableKeyPath<VPNIKEAuthentication, Value>) -> Value {
        get { authentication[keyPath: member] }
        set { authentication[keyPath: member] = newValue }
    }
}

extension VPNProtocolIKEv2: Codable {
    private enum CodingKeys: String, CodingKey {
        case deadPeerDetectionRate, serverCertificateIssuerCommonName, serverCertificateCommonName, certificateType
        case useConfigurationAttributeInternalIPSubnet, ikeSecurityAssociationParameters
        case childSecurityAssociationParameters, disableMOBIKE, disableRedirect, enablePFS, enableRevocationCheck
        case strictRevocationCheck, minimumTLSVersion, maximumTLSVersion, mtu, ppkConfiguration
        case allowPostQuantumKeyExchangeFallback
    }

    public init(from decoder: any Decoder) throws {
        self.init()
        common = try VPNProtocolValues(from: decoder)
        authentication = try VPNIKEAuthentication(from: decoder)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func read<Value: Decodable>(_ key: CodingKeys, into member: inout Value) throws {
            member = try values.decode(key, default: member)
        }
        try read(.deadPeerDetectionRate, into: &deadPeerDetectionRate)
        try read(.serverCertificateIssuerCommonName, into: &serverCertificateIssuerCommonName)
        try read(.serverCertificateCommonName, into: &serverCertificateCommonName)
        try read(.certificateType, into: &certificateType)
        try read(.useConfigurationAttributeInternalIPSubnet, into: &useConfigurationAttributeInternalIPSubnet)
        try read(.ikeSecurityAssociationParameters, into: &ikeSecurityAssociationParameters)
        try read(.childSecurityAssociationParameters, into: &childSecurityAssociationParameters)
        try read(.disableMOBIKE, into: &disableMOBIKE)
        try read(.disableRedirect, into: &disableRedirect)
        try read(.enablePFS, into: &enablePFS)
        try read(.enableRevocationCheck, into: &enableRevocationCheck)
        try read(.strictRevocationCheck, into: &strictRevocationCheck)
        try read(.minimumTLSVersion, into: &minimumTLSVersion)
        try read(.maximumTLSVersion, into: &maximumTLSVersion)
        try read(.mtu, into: &mtu)
        try read(.ppkConfiguration, into: &ppkConfiguration)
        try read(.allowPostQuantumKeyExchangeFallback, into: &allowPostQuantumKeyExchangeFallback)
    }

    public func encode(to encoder: any Encoder) throws {
        try common.encode(to: encoder)
        try authentication.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(deadPeerDetectionRate, forKey: .deadPeerDetectionRate)
        try values.encodeIfPresent(serverCertificateIssuerCommonName, forKey: .serverCertificateIssuerCommonName)
        try values.encodeIfPresent(serverCertificateCommonName, forKey: .serverCertificateCommonName)
        try values.encode(certificateType, forKey: .certificateType)
        try values.encode(
            useConfigurationAttributeInternalIPSubnet, forKey: .useConfigurationAttributeInternalIPSubnet)
        try values.encode(ikeSecurityAssociationParameters, forKey: .ikeSecurityAssociationParameters)
        try values.encode(childSecurityAssociationParameters, forKey: .childSecurityAssociationParameters)
        try values.encode(disableMOBIKE, forKey: .disableMOBIKE)
        try values.encode(disableRedirect, forKey: .disableRedirect)
        try values.encode(enablePFS, forKey: .enablePFS)
        try values.encode(enableRevocationCheck, forKey: .enableRevocationCheck)
        try values.encode(strictRevocationCheck, forKey: .strictRevocationCheck)
        try values.encode(minimumTLSVersion, forKey: .minimumTLSVersion)
        try values.encode(maximumTLSVersion, forKey: .maximumTLSVersion)
        try values.encode(mtu, forKey: .mtu)
        try values.encodeIfPresent(ppkConfiguration, forKey: .ppkConfiguration)
        try values.encode(allowPostQuantumKeyExchangeFallback, forKey: .allowPostQuantumKeyExchangeFallback)
    }
}
