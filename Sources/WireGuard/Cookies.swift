/// The first MAC of handshake messages (whitepaper section 5.4.4): whoever makes it knows the receiver's public key.
public struct FirstMAC: Sendable, BitwiseCopyable {
    private let key: Key256

    init(to receiver: Key256) { key = CookieLabel.mac1Key(of: receiver) }

    /// The MAC of a message that ends before it.
    func code(for message: RawSpan) -> UInt128 { KeyDerivation.mac(key, keyCount: 32, message) }

    /// Whether an initiation or a response carries it: the cheap test that comes before everything else.
    public func isValid(_ message: RawSpan) -> Bool {
        let end = message.byteCount - 32
        guard end >= 0 else { return false }
        return code(for: message.extracting(0..<end)) ^ message.littleEndian128(at: end) == 0
    }
}

/// The receiver's side of MAC1, MAC2 and cookie replies (whitepaper sections 5.3 and 5.4.7).
struct CookieChecker {
    let firstMAC: FirstMAC
    private let replyKey: Key256
    private var secret: Key256 = .zero
    private var secretBirth: Instant?

    init(_ ownKey: Key256) {
        firstMAC = FirstMAC(to: ownKey)
        replyKey = CookieLabel.replyKey(of: ownKey)
    }

    /// Checks the second MAC against the cookie that the sender's address and port give.
    mutating func hasValidMAC2(_ message: RawSpan, from source: Endpoint, now: Instant) -> Bool {
        guard let secretBirth, now - secretBirth < Limits.cookieSecretAge else { return false }
        let end = message.byteCount - 16
        let cookie = Key256(cookie: cookie(for: source))
        return KeyDerivation.mac(cookie, keyCount: 16, message.extracting(0..<end)) ^ message.littleEndian128(at: end)
            == 0
    }

    /// Makes a cookie reply to a message whose first MAC is right.
    mutating func reply(
        to message: RawSpan, from source: Endpoint, now: Instant, random: inout some RandomSource
    ) -> [UInt8] {
        if secretBirth.map({ now - $0 >= Limits.cookieSecretAge }) ?? true {
            secret = random.nextKey()
            secretBirth = now
        }
        let nonce = Array(random.nextKey().bytes[..<24])
        var plaintext: [UInt8] = []
        plaintext.append(littleEndian: cookie(for: source))
        let mac1 = message.copy(message.byteCount - 32..<message.byteCount - 16)
        var reply: [UInt8] = []
        reply.reserveCapacity(MessageSize.cookieReply)
        reply.append(littleEndian: UInt32(3))
        reply.append(littleEndian: message.littleEndian32(at: Offset.sender))
        reply += nonce
        reply += AEAD.sealExtended(plaintext, key: replyKey, nonce: nonce, additional: mac1)
        return reply
    }

    /// Mac(secret, address and port): both count, or one host's cookie would serve every port of its address.
    private func cookie(for source: Endpoint) -> UInt128 {
        let bytes = source.address.bytes + [UInt8(source.port >> 8), UInt8(source.port & 255)]
        return KeyDerivation.mac(secret, keyCount: 32, bytes.rawBytes)
    }
}

/// The sender's side: appends both MACs, and remembers the cookie that a peer sent us.
struct CookieKeeper: BitwiseCopyable {
    private let firstMAC: FirstMAC
    private let replyKey: Key256
    private var lastMAC1: UInt128 = 0
    private var awaitsReply = false
    private var cookie: UInt128 = 0
    private var cookieBirth = Instant.zero
    private var hasCookie = false

    init(_ peerKey: Key256) {
        firstMAC = FirstMAC(to: peerKey)
        replyKey = CookieLabel.replyKey(of: peerKey)
    }

    /// Appends MAC1, and MAC2 if we have a fresh cookie, else 16 zero bytes.
    mutating func appendMACs(to message: inout [UInt8], now: Instant) {
        lastMAC1 = firstMAC.code(for: message.rawBytes)
        awaitsReply = true
        message.append(littleEndian: lastMAC1)
        guard hasCookie, now - cookieBirth < Limits.cookieUse else {
            hasCookie = false
            message.append(littleEndian: UInt128(0))
            return
        }
        message.append(littleEndian: KeyDerivation.mac(Key256(cookie: cookie), keyCount: 16, message.rawBytes))
    }

    /// Takes a cookie reply of exact length to the last message we sent; false if it does not open.
    mutating func consume(_ reply: RawSpan, now: Instant) -> Bool {
        guard awaitsReply else { return false }
        var mac1: [UInt8] = []
        mac1.append(littleEndian: lastMAC1)
        let nonce = reply.copy(Offset.cookieNonce..<Offset.cookieSealed)
        let sealed = reply.copy(Offset.cookieSealed..<MessageSize.cookieReply)
        guard let opened = AEAD.openExtended(sealed, key: replyKey, nonce: nonce, additional: mac1) else {
            return false
        }
        cookie = opened.rawBytes.littleEndian128(at: 0)
        cookieBirth = now
        hasCookie = true
        awaitsReply = false
        return true
    }
}

/// The labels that keep the two keys of a public key apart.
enum CookieLabel {
    static func mac1Key(of key: Key256) -> Key256 {
        KeyDerivation.hash(Array("mac1----".utf8) + key.bytes)
    }

    static func replyKey(of key: Key256) -> Key256 {
        KeyDerivation.hash(Array("cookie--".utf8) + key.bytes)
    }
}

extension Key256 {
    /// A 16-byte cookie in the place of a key.
    init(cookie: UInt128) {
        self.init(
            words: SIMD4(UInt64(truncatingIfNeeded: cookie), UInt64(truncatingIfNeeded: cookie >> 64), 0, 0))
    }
}
