/// A configuration for IKEv1 (Network Extension's `NEVPNProtocolIPSec`).
public struct VPNProtocolIPSec: VPNProtocol {
    /// The properties of every protocol.
    public var common = VPNProtocolValues()
    /// How both ends prove who they are.
    public var authentication = VPNIKEAuthentication()

    /// Makes a configuration in which nothing is set.
    public init() {}

    public subscript<Value>(dynamicMember member: WritableKeyPath<VPNIKEAuthentication, Value>) -> Value {
        get { authentication[keyPath: member] }
        set { authentication[keyPath: member] = newValue }
    }
}

extension VPNProtocolIPSec: Codable {
    public init(from decoder: any Decoder) throws {
        common = try VPNProtocolValues(from: decoder)
        authentication = try VPNIKEAuthentication(from: decoder)
    }

    public func encode(to encoder: any Encoder) throws {
        try common.encode(to: encoder)
        try authentication.encode(to: encoder)
    }
}

/// How the ends of an IKE session prove who they are: what `NEVPNProtocolIPSec` hands down to `NEVPNProtocolIKEv2`.
public struct VPNIKEAuthentication: Sendable, Hashable {
    /// What proves the machine's identity.
    public var authenticationMethod = VPNIKEAuthenticationMethod.none
    /// Whether user name and password are asked for as well: XAUTH with IKEv1, EAP with IKEv2.
    public var useExtendedAuthentication = false
    /// The shared secret: a keychain item of class generic password.
    public var sharedSecretReference: KeychainReference?
    /// The identity that this end claims.
    public var localIdentifier: String?
    /// The identity that the server must prove.
    public var remoteIdentifier: String?

    /// Makes one in which nothing is set.
    public init() {}
}

extension VPNIKEAuthentication: Codable {
    private enum CodingKeys: String, CodingKey {
        case authenticationMethod, useExtendedAuthentication, sharedSecretReference, localIdentifier, remoteIdentifier
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        authenticationMethod = try values.decode(.authenticationMethod, default: .none)
        useExtendedAuthentication = try values.decode(.useExtendedAuthentication, default: false)
        sharedSecretReference = try values.decodeIfPresent(KeychainReference.self, forKey: .sharedSecretReference)
        localIdentifier = try values.decodeIfPresent(String.self, forKey: .localIdentifier)
        remoteIdentifier = try values.decodeIfPresent(String.self, forKey: .remoteIdentifier)
    }
}

/// What proves a machine's identity (`NEVPNIKEAuthenticationMethod`).
public enum VPNIKEAuthenticationMethod: Int, Sendable, Codable, CaseIterable {
    /// Nothing but extended authentication; with IKEv2 only.
    case none = 0
    /// The identity of the configuration.
    case certificate = 1
    /// The shared secret of the configuration.
    case sharedSecret = 2
}
