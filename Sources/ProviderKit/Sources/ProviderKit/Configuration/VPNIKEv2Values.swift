/// The algorithms and the lifetime of a security association (`NEVPNIKEv2SecurityAssociationParameters`).
public struct VPNIKEv2SecurityAssociationParameters: Sendable, Hashable, Codable {
    /// What encrypts.
    public var encryptionAlgorithm = VPNIKEv2EncryptionAlgorithm.algorithmAES256
    /// What authenticates.
    public var integrityAlgorithm = VPNIKEv2IntegrityAlgorithm.SHA256
    /// The group of the key exchange.
    public var diffieHellmanGroup = VPNIKEv2DiffieHellmanGroup.group14
    /// The additional key exchanges of RFC 9370, at most seven.
    public var postQuantumKeyExchangeMethods: [VPNIKEv2PostQuantumKeyExchangeMethod] = []
    /// How long the association lives.
    public var lifetimeMinutes: Int32

    /// Makes the default parameters: AES-256, SHA-256 and group 14.
    public init(lifetimeMinutes: Int32) {
        self.lifetimeMinutes = lifetimeMinutes
    }
}

/// A preshared key beside the key exchange (`NEVPNIKEv2PPKConfiguration`, RFC 8784).
public struct VPNIKEv2PPKConfiguration: Sendable, Hashable, Codable {
    /// The name of the key.
    public let identifier: String
    /// The key: a keychain item of class generic password.
    public let keychainReference: KeychainReference
    /// Whether a server without the key is refused.
    public var isMandatory = true

    /// Names a key and where it is kept.
    public init(identifier: String, keychainReference: KeychainReference) {
        self.identifier = identifier
        self.keychainReference = keychainReference
    }
}

/// What encrypts (`NEVPNIKEv2EncryptionAlgorithm`).
public enum VPNIKEv2EncryptionAlgorithm: Int, Sendable, Codable, CaseIterable {
    case algorithmDES = 1
    case algorithm3DES = 2
    case algorithmAES128 = 3
    case algorithmAES256 = 4
    case algorithmAES128GCM = 5
    case algorithmAES256GCM = 6
    case algorithmChaCha20Poly1305 = 7
}

/// What authenticates (`NEVPNIKEv2IntegrityAlgorithm`).
public enum VPNIKEv2IntegrityAlgorithm: Int, Sendable, Codable, CaseIterable {
    case SHA96 = 1
    case SHA160 = 2
    case SHA256 = 3
    case SHA384 = 4
    case SHA512 = 5
}

/// The group of a key exchange (`NEVPNIKEv2DiffieHellmanGroup`).
public enum VPNIKEv2DiffieHellmanGroup: Int, Sendable, Codable, CaseIterable {
    case groupInvalid = 0
    case group1 = 1
    case group2 = 2
    case group5 = 5
    case group14 = 14
    case group15 = 15
    case group16 = 16
    case group17 = 17
    case group18 = 18
    case group19 = 19
    case group20 = 20
    case group21 = 21
    case group31 = 31
    case group32 = 32
}

/// An additional key exchange (`NEVPNIKEv2PostQuantumKeyExchangeMethod`).
public enum VPNIKEv2PostQuantumKeyExchangeMethod: Int, Sendable, Codable, CaseIterable {
    case methodNone = 0
    /// ML-KEM-768.
    case method36 = 36
    /// ML-KEM-1024.
    case method37 = 37
}

/// How often a silent server is probed (`NEVPNIKEv2DeadPeerDetectionRate`).
public enum VPNIKEv2DeadPeerDetectionRate: Int, Sendable, Codable, CaseIterable {
    case none = 0
    /// Every 30 minutes.
    case low = 1
    /// Every 10 minutes.
    case medium = 2
    /// Every minute.
    case high = 3
}

/// The kind of a certificate (`NEVPNIKEv2CertificateType`).
public enum VPNIKEv2CertificateType: Int, Sendable, Codable, CaseIterable {
    case RSA = 1
    case ECDSA256 = 2
    case ECDSA384 = 3
    case ECDSA521 = 4
    case ed25519 = 5
    case RSAPSS = 6
}

/// A version of TLS (`NEVPNIKEv2TLSVersion`).
public enum VPNIKEv2TLSVersion: Int, Sendable, Codable, CaseIterable {
    case versionDefault = 0
    case version1_0 = 1
    case version1_1 = 2
    case version1_2 = 3
}
