/// The initiator's half: between its initiation and the response.
struct InitiatorHandshake: BitwiseCopyable {
    var state: HandshakeState
    var ephemeral: Key256
    var localIndex: UInt32

    /// Makes the first 116 bytes of an initiation (whitepaper section 5.4.2), the MACs are appended by the cookie keeper.
    ///
    /// Nil if a Diffie-Hellman result is all zero: to such a public key nothing is ever sent.
    static func begin(
        from identity: Identity, to peer: RemoteIdentity, ephemeral seed: Key256, index: UInt32, timestamp: TAI64N
    ) -> (InitiatorHandshake, [UInt8])? {
        let ephemeral = PrivateKey(seed).key
        let ephemeralPublic = X25519.publicKey(of: ephemeral)
        guard let staticShared = peer.staticShared,
            let ephemeralShared = X25519.sharedSecret(ephemeral, peer.publicKey)
        else { return nil }
        var state = HandshakeState(responder: peer.publicKey)
        var message: [UInt8] = []
        message.reserveCapacity(MessageSize.initiation)
        message.append(littleEndian: UInt32(1))
        message.append(littleEndian: index)
        state.mixEphemeral(ephemeralPublic)
        message += ephemeralPublic.bytes
        message += state.seal(identity.publicKey.bytes, key: state.mixKey(ephemeralShared))
        message += state.seal(timestamp.wire, key: state.mixKey(staticShared))
        return (InitiatorHandshake(state: state, ephemeral: ephemeral, localIndex: index), message)
    }

    /// Reads a response (whitepaper section 5.4.3) of exact length whose first MAC was checked; nil if it is not for us.
    func finish(_ response: RawSpan, identity: Identity, presharedKey: Key256, now: Instant) -> Keypair? {
        var state = state
        let remoteEphemeral = response.key(at: Offset.responseEphemeral)
        state.mixEphemeral(remoteEphemeral)
        guard let ephemeralShared = X25519.sharedSecret(ephemeral, remoteEphemeral) else { return nil }
        state.mixChain(ephemeralShared)
        guard let mixedShared = X25519.sharedSecret(identity.privateKey, remoteEphemeral) else { return nil }
        state.mixChain(mixedShared)
        let key = state.mixPreshared(presharedKey)
        let sealed = response.copy(Offset.responseEmpty..<Offset.responseMAC1)
        guard state.open(sealed, key: key) != nil else { return nil }
        let (send, receive) = state.split()
        return Keypair(
            sendKey: send, receiveKey: receive, localIndex: localIndex,
            remoteIndex: response.littleEndian32(at: Offset.sender), isInitiator: true, birth: now)
    }
}
