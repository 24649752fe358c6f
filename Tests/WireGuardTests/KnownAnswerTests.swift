import Testing

@testable import WireGuard

/// Published test keys and the messages they give; see the vector file of the repository's description.
enum Vector {
    static let staticInitiator = "AKeZaHwBxjiKLFnkY2unvEdOTtg4AL+M9dQXfopFVFk="
    static let staticResponder = "cFIxTUyBs1Qil414hBwEgvasEax8CKJ5IS5ZougplWs="
    static let ephemeralInitiator = "iCv2VTi/BC/q0egU931KXrrQ4TSwXaezMgrhh7uCbXs="
    static let ephemeralResponder = "8G1N3LnEqYC7+NW/b6mqceVUIGBMAZSm+IpwG1U0j0w="
    static let preshared = "//////////////////////////////////////////8="
    static let timestamp = "400000006553f10a00000000"
    static let ck0 = "60e26daef327efc02ec335e2a025d2d016eb4206f87277f52d38d1988b78cd36"
    static let h0 = "2211b361081ac566691243db458ad5322d9c6c662293e8b70ee19c65ba079ef3"
    static let message1 = """
        0100000044332211f30ceb67148dd27c78d52d0196b6b78b71542986f563ac898879353f022f174770c5b3d433cfb49fd3311688284ce67e\
        c72111e655129fc5f6bed2e0a44b8d28c222c6e1479a0833c7a1f6417b733c1ef049fab5da62b39950bc33e2fef5d3afbc7e63c0cb2ff65632\
        a67f548047d6ebbe0a0935f0f786c232998aea00000000000000000000000000000000
        """
    static let message2 = """
        020000008877665544332211394ce1067faccdff74d71ddde6450ccedb94839008a7a2c0cdb0b4abe080565b64fbb89c542e6eee11df69b\
        ff3152f6b48a9bea18c8609358456961784af348700000000000000000000000000000000
        """
    static let handshakeHash = "8f4dffd08a55afd4a227ea1f916bad77c29a8e76db3cf85aca6bd57aa8187495"
    static let initiatorKey = "360f69b725f4733f4f593c9a24fead31bed6d76be9f445cfc4ac46d76b59d961"
    static let responderKey = "f844ab4dcfc62b5d4feb3b0cc7bbf01e6333c461db6882d56ad0344125ee4ed1"
    static let inner = "4500001c000100004001178bc0a8f101c0a8f1020800f7ff00000000"
    static let data = """
        0400000088776655000000000000000059edd3f6d360fb23b562563f6edebc6177b2730454201d03831be933c6d8a06b70fe38c5f64de06f\
        937c615f4ed540e2
        """
    static let keepalive = "040000004433221100000000000000000d06e98d0236317ad3a31b3388525e2a"

    static func bytes(_ hex: String) throws -> [UInt8] {
        let digits = Array(hex)
        return try stride(from: 0, to: digits.count, by: 2).map {
            try #require(UInt8(String(digits[$0...$0 + 1]), radix: 16))
        }
    }

    static func privateKey(_ text: String) throws -> PrivateKey {
        try #require(PrivateKey(base64: text))
    }

    static func remote(_ peer: PrivateKey, seenBy own: PrivateKey) throws -> RemoteIdentity {
        RemoteIdentity(
            publicKey: peer.publicKey.key, staticShared: X25519.sharedSecret(own.key, peer.publicKey.key),
            presharedKey: try #require(Key256(base64: preshared)))
    }
}

@Suite("Known answers of the handshake")
struct KnownAnswerTests {
    let initiator: PrivateKey
    let responder: PrivateKey
    let initiatorEphemeral: Key256
    let responderEphemeral: Key256
    let preshared: Key256
    let toResponder: RemoteIdentity
    let toInitiator: RemoteIdentity
    let stamp: TAI64N
    let message1: [UInt8]
    let message2: [UInt8]
    let now = Instant(nanoseconds: 1)

    init() throws {
        initiator = try Vector.privateKey(Vector.staticInitiator)
        responder = try Vector.privateKey(Vector.staticResponder)
        initiatorEphemeral = try Vector.privateKey(Vector.ephemeralInitiator).key
        responderEphemeral = try Vector.privateKey(Vector.ephemeralResponder).key
        preshared = try #require(Key256(base64: Vector.preshared))
        toResponder = try Vector.remote(responder, seenBy: initiator)
        toInitiator = try Vector.remote(initiator, seenBy: responder)
        stamp = TAI64N(bytes: try Vector.bytes(Vector.timestamp))
        message1 = try Vector.bytes(Vector.message1)
        message2 = try Vector.bytes(Vector.message2)
    }

    @Test("The initial chaining key and hash are the protocol's")
    func initialState() {
        #expect(HandshakeState.construction.hex == Vector.ck0)
        #expect(HandshakeState.identified.hex == Vector.h0)
    }

    @Test("The wall clock gives the vector's time stamp")
    func timestamp() throws {
        let wall = TAI64N(unixSeconds: 1_700_000_010 - 10, nanoseconds: 0)
        #expect(stamp.wire == (try Vector.bytes(Vector.timestamp)))
        #expect(stamp == wall)
        #expect(stamp.unixSeconds == 1_700_000_000)
    }

    @Test("The initiator's message is the vector's, and it reads the vector's response")
    func initiatorSide() throws {
        let begun = InitiatorHandshake.begin(
            from: Identity(initiator), to: toResponder, ephemeral: initiatorEphemeral, index: 0x1122_3344,
            timestamp: stamp)
        var (state, message) = try #require(begun)
        var keeper = CookieKeeper(responder.publicKey.key)
        keeper.appendMACs(to: &message, now: now)
        #expect(message == message1)
        #expect(MessageKind(message1) == .initiation)
        #expect(CookieChecker(initiator.publicKey.key).hasValidMAC1(bytes: message2))
        let finished = state.finish(bytes: message2, identity: Identity(initiator), presharedKey: preshared, now: now)
        let keys = try #require(finished)
        #expect(keys.sendKey.hex == Vector.initiatorKey)
        #expect(keys.receiveKey.hex == Vector.responderKey)
        #expect(keys.localIndex == 0x1122_3344 && keys.remoteIndex == 0x5566_7788 && keys.isInitiator)
        #expect(state.finish(bytes: message2, identity: Identity(initiator), presharedKey: .zero, now: now) == nil)
    }

    @Test("The responder reads the vector's initiation, and its message is the vector's")
    func responderSide() throws {
        #expect(CookieChecker(responder.publicKey.key).hasValidMAC1(bytes: message1))
        let read = ReceivedInitiation(bytes: message1, identity: Identity(responder))
        var received = try #require(read)
        #expect(received.remoteStatic == initiator.publicKey.key)
        #expect(received.remoteIndex == 0x1122_3344)
        let opened = received.openTimestamp(bytes: message1, peer: toInitiator)
        #expect(opened == stamp)
        let answer = received.respond(
            peer: toInitiator, ephemeral: responderEphemeral, index: 0x5566_7788, now: now)
        var (message, keys) = try #require(answer)
        var keeper = CookieKeeper(initiator.publicKey.key)
        keeper.appendMACs(to: &message, now: now)
        #expect(message == message2)
        #expect(MessageKind(message2) == .response)
        #expect(keys.receiveKey.hex == Vector.initiatorKey)
        #expect(keys.sendKey.hex == Vector.responderKey)
        #expect(keys.localIndex == 0x5566_7788 && keys.remoteIndex == 0x1122_3344 && !keys.isInitiator)
    }

    @Test("The handshake hash is the vector's")
    func handshakeHash() throws {
        let read = ReceivedInitiation(bytes: message1, identity: Identity(responder))
        var received = try #require(read)
        _ = received.openTimestamp(bytes: message1, peer: toInitiator)
        var state = received.inspected
        let remoteEphemeral = X25519.publicKey(of: responderEphemeral)
        state.mixEphemeral(remoteEphemeral)
        state.mixChain(try #require(X25519.sharedSecret(initiatorEphemeral, remoteEphemeral)))
        state.mixChain(try #require(X25519.sharedSecret(initiator.key, remoteEphemeral)))
        let key = state.mixPreshared(preshared)
        let empty = state.open(Array(message2[Offset.responseEmpty..<Offset.responseMAC1]), key: key)
        #expect(empty == [])
        #expect(state.hash.hex == Vector.handshakeHash)
    }

    @Test("Transport data and keepalive of the vector, sealed and opened")
    func transport() throws {
        let sendKey = try #require(Key256(hex: Vector.initiatorKey))
        let keepaliveKey = try #require(Key256(hex: Vector.responderKey))
        let inner = try Vector.bytes(Vector.inner)
        let header = DataHeader(receiverIndex: 0x5566_7788, counter: 0)
        let sealed = TransportMessage.seal(
            inner, paddedTo: Padding.paddedLength(of: inner.count, mtu: 1420), key: sendKey, header: header)
        #expect(sealed == (try Vector.bytes(Vector.data)))
        let keepalive = TransportMessage.seal(
            [], paddedTo: 0, key: keepaliveKey, header: DataHeader(receiverIndex: 0x1122_3344, counter: 0))
        #expect(keepalive == (try Vector.bytes(Vector.keepalive)))
        #expect(TransportMessage.open(sealed, key: sendKey) == inner + [0, 0, 0, 0])
        #expect(TransportMessage.open(keepalive, key: keepaliveKey) == [])
        #expect(DataHeader(sealed) == header)
        #expect(TransportMessage.open(sealed, key: keepaliveKey) == nil)
    }

    @Test("HMAC and the three derivations agree with the construction written out", arguments: 0..<16)
    func derivation(seed: Int) {
        var generator = SplitMix(seed: UInt64(seed))
        let key = generator.key()
        let input = generator.key()
        func hmac(_ key: [UInt8], _ data: [UInt8]) -> [UInt8] {
            let block = key + [UInt8](repeating: 0, count: 64 - key.count)
            let inner = KeyDerivation.hash(block.map { $0 ^ 0x36 } + data)
            return KeyDerivation.hash(block.map { $0 ^ 0x5c } + inner.bytes).bytes
        }
        let secret = hmac(key.bytes, input.bytes)
        let first = hmac(secret, [1])
        let second = hmac(secret, first + [2])
        let third = hmac(secret, second + [3])
        let derived = KeyDerivation.derive(key, input)
        #expect(derived.0.bytes == first && derived.1.bytes == second && derived.2.bytes == third)
        #expect(KeyDerivation.derive1(key, input).bytes == first)
        #expect(KeyDerivation.derive2(key, input).1.bytes == second)
        #expect(KeyDerivation.derive2(key, nil).0.bytes == hmac(hmac(key.bytes, []), [1]))
    }

    @Test("BLAKE2s of RFC 7693 appendix B")
    func blake2s() {
        #expect(
            KeyDerivation.hash(Array("abc".utf8)).hex
                == "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982")
    }
}
