/// The static public key of a peer: its name.
public struct PublicKey: Sendable, Hashable, BitwiseCopyable, CustomStringConvertible {
    /// The 32 bytes of the point's u coordinate.
    public let key: Key256

    /// Names a peer by its 32 bytes; any value is accepted, low-order points are refused when a handshake begins.
    public init(_ key: Key256) {
        self.key = key
    }

    /// Parses 44 characters of base64.
    public init?(base64 text: some StringProtocol) {
        guard let key = Key256(base64: text) else { return nil }
        self.key = key
    }

    /// The key as 44 characters of base64.
    public var base64: String { key.base64 }
    public var description: String { key.base64 }
}

/// A static private key, clamped as curve25519 wants it; its memory is wiped with the last reference.
public struct PrivateKey: Sendable, Equatable {
    private let secret: SecretStorage<Key256>

    /// Takes 32 bytes and clamps them (RFC 7748 section 5).
    public init(_ key: Key256) {
        var clamped = key
        clamped.words[0] &= ~7
        clamped.words[3] = clamped.words[3] & 0x7fff_ffff_ffff_ffff | 0x4000_0000_0000_0000
        secret = SecretStorage(clamped)
    }

    /// Parses 44 characters of base64.
    public init?(base64 text: some StringProtocol) {
        guard let key = Key256(base64: text) else { return nil }
        self.init(key)
    }

    /// The clamped bytes.
    public var key: Key256 { secret.value }
    /// The key as 44 characters of base64, for the control protocol and for saving.
    public var base64: String { secret.value.base64 }
    /// The public half.
    public var publicKey: PublicKey { PublicKey(X25519.publicKey(of: secret.value)) }

    public static func == (left: PrivateKey, right: PrivateKey) -> Bool {
        left.secret.value == right.secret.value
    }
}

/// A symmetric key that both peers mix into the handshake; all zero means none.
public struct PresharedKey: Sendable, Equatable {
    private let secret: SecretStorage<Key256>

    /// Takes 32 bytes as they are.
    public init(_ key: Key256) {
        secret = SecretStorage(key)
    }

    /// Parses 44 characters of base64.
    public init?(base64 text: some StringProtocol) {
        guard let key = Key256(base64: text) else { return nil }
        self.init(key)
    }

    /// The bytes.
    public var key: Key256 { secret.value }
    /// The key as 44 characters of base64, for the control protocol and for saving.
    public var base64: String { secret.value.base64 }
    /// Whether the key is all zero, which the protocol treats as no preshared key.
    public var isZero: Bool { secret.value.isZero }

    public static func == (left: PresharedKey, right: PresharedKey) -> Bool {
        left.secret.value == right.secret.value
    }
}
