/// The running state of the Noise handshake: chaining key and hash (whitepaper section 5.4.2).
struct HandshakeState: BitwiseCopyable {
    var chainingKey: Key256
    var hash: Key256

    static let construction = KeyDerivation.hash(Array("Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s".utf8))
    static let identified = KeyDerivation.hash(construction, Array("WireGuard v1 zx2c4 Jason@zx2c4.com".utf8))

    /// An unused state.
    init() {
        chainingKey = .zero
        hash = .zero
    }

    /// The state before the first message, which is addressed to the responder's static key.
    init(responder: Key256) {
        chainingKey = Self.construction
        hash = KeyDerivation.hash(Self.identified, responder.bytes)
    }

    mutating func mixHash(_ bytes: [UInt8]) {
        hash = KeyDerivation.hash(hash, bytes)
    }

    /// Mixes an ephemeral public key into chaining key and hash.
    mutating func mixEphemeral(_ key: Key256) {
        chainingKey = KeyDerivation.derive1(chainingKey, key)
        mixHash(key.bytes)
    }

    /// Mixes a shared secret and returns the key that it gives.
    mutating func mixKey(_ secret: Key256) -> Key256 {
        let (chain, key) = KeyDerivation.derive2(chainingKey, secret)
        chainingKey = chain
        return key
    }

    /// Mixes a shared secret of which no key is needed.
    mutating func mixChain(_ secret: Key256) {
        chainingKey = KeyDerivation.derive1(chainingKey, secret)
    }

    /// Mixes the preshared key and returns the key that seals the empty payload of the response.
    mutating func mixPreshared(_ key: Key256) -> Key256 {
        let (chain, temporary, result) = KeyDerivation.derive(chainingKey, key)
        chainingKey = chain
        mixHash(temporary.bytes)
        return result
    }

    mutating func seal(_ plaintext: [UInt8], key: Key256) -> [UInt8] {
        let sealed = AEAD.seal(plaintext, key: key, counter: 0, additional: hash.bytes)
        mixHash(sealed)
        return sealed
    }

    mutating func open(_ sealed: [UInt8], key: Key256) -> [UInt8]? {
        guard let plaintext = AEAD.open(sealed, key: key, counter: 0, additional: hash.bytes) else { return nil }
        mixHash(sealed)
        return plaintext
    }

    /// The two transport keys: the initiator sends with the first.
    func split() -> (Key256, Key256) {
        KeyDerivation.derive2(chainingKey, nil)
    }
}

/// Our static key, and what is derived from it alone.
struct Identity {
    let secret: PrivateKey
    let publicKey: Key256

    var privateKey: Key256 { secret.key }

    init(_ key: PrivateKey) {
        secret = key
        publicKey = key.publicKey.key
    }
}

/// What the handshake needs to know of the other side.
struct RemoteIdentity: BitwiseCopyable {
    var publicKey: Key256
    /// Diffie-Hellman of both static keys, computed once; nil if the public key is of low order.
    var staticShared: Key256?
    var presharedKey: Key256
}

/// One generation of transport keys, as a handshake gives it.
struct Keypair: BitwiseCopyable {
    /// The key that we seal with.
    var sendKey: Key256
    /// The key that we open with.
    var receiveKey: Key256
    /// The index that the peer puts into packets to us.
    var localIndex: UInt32
    /// The index that we put into packets to the peer.
    var remoteIndex: UInt32
    /// Whether we began the handshake: the initiator may send at once, and starts the next one.
    var isInitiator: Bool
    /// When the keys were derived.
    var birth: Instant
}

/// A keypair on its way from control to the data half; wiped with its last reference.
public struct KeypairHandle: Sendable {
    let storage: SecretStorage<Keypair>

    init(_ keypair: Keypair) {
        storage = SecretStorage(keypair)
    }
}
