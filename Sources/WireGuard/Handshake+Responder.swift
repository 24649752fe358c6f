/// The responder's half: an initiation that was opened as far as the sender's name.
struct ReceivedInitiation: BitwiseCopyable {
    private var state: HandshakeState
    let remoteIndex: UInt32
    private let remoteEphemeral: Key256
    /// The sender's static public key; authentic only after `openTimestamp`.
    let remoteStatic: Key256

    /// Opens the static key of an initiation of exact length whose first MAC was checked; nil if it is not for us.
    init?(_ message: RawSpan, identity: Identity) {
        state = HandshakeState(responder: identity.publicKey)
        remoteIndex = message.littleEndian32(at: Offset.sender)
        remoteEphemeral = message.key(at: Offset.initiationEphemeral)
        state.mixEphemeral(remoteEphemeral)
        guard let shared = X25519.sharedSecret(identity.privateKey, remoteEphemeral) else { return nil }
        let sealed = message.copy(Offset.initiationStatic..<Offset.initiationTimestamp)
        let key = state.mixKey(shared)
        guard let opened = state.open(sealed, key: key), let remote = Key256(bytes: opened) else { return nil }
        remoteStatic = remote
    }

    /// Opens the time stamp with the precomputed secret of both static keys, which proves who sent the message.
    mutating func openTimestamp(_ message: RawSpan, peer: RemoteIdentity) -> TAI64N? {
        guard let shared = peer.staticShared else { return nil }
        let key = state.mixKey(shared)
        let sealed = message.copy(Offset.initiationTimestamp..<Offset.initiationMAC1)
        guard let opened = state.open(sealed, key: key) else { return nil }
        return TAI64N(wire: opened.rawBytes)
    }

    /// Makes the first 60 bytes of the response and the keypair; nil if a Diffie-Hellman result is all zero.
    func respond(peer: RemoteIdentity, ephemeral seed: Key256, index: UInt32, now: Instant) -> ([UInt8], Keypair)? {
        var state = state
        let ephemeral = PrivateKey(seed).key
        let ephemeralPublic = X25519.publicKey(of: ephemeral)
        var message: [UInt8] = []
        message.reserveCapacity(MessageSize.response)
        message.append(littleEndian: UInt32(2))
        message.append(littleEndian: index)
        message.append(littleEndian: remoteIndex)
        state.mixEphemeral(ephemeralPublic)
        message += ephemeralPublic.bytes
        guard let ephemeralShared = X25519.sharedSecret(ephemeral, remoteEphemeral) else { return nil }
        state.mixChain(ephemeralShared)
        guard let mixedShared = X25519.sharedSecret(ephemeral, remoteStatic) else { return nil }
        state.mixChain(mixedShared)
        let key = state.mixPreshared(peer.presharedKey)
        message += state.seal([], key: key)
        let (receive, send) = state.split()
        let keypair = Keypair(
            sendKey: send, receiveKey: receive, localIndex: index, remoteIndex: remoteIndex, isInitiator: false,
            birth: now)
        return (message, keypair)
    }

    /// The handshake hash and chaining key so far, for known-answer tests.
    var inspected: HandshakeState { state }
}
