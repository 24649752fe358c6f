/// The hash, MAC and key derivation functions of whitepaper section 5.4.
enum KeyDerivation {
    /// Hash(input): BLAKE2s with 32 bytes of output.
    static func hash(_ first: Key256, _ second: [UInt8]) -> Key256 {
        var state = Blake2s(size: 32)
        state.update(first)
        state.update(second)
        return state.finish()
    }

    /// Hash(input) of bytes.
    static func hash(_ bytes: [UInt8]) -> Key256 {
        var state = Blake2s(size: 32)
        state.update(bytes)
        return state.finish()
    }

    /// Mac(key, input): keyed BLAKE2s with 16 bytes of output.
    static func mac(_ key: Key256, keyCount: Int, _ bytes: RawSpan) -> UInt128 {
        var state = Blake2s(size: 16, key: key, keyCount: keyCount)
        state.update(bytes)
        return state.finish().low128
    }

    /// Hmac(key, input): HMAC-BLAKE2s (RFC 2104 with 64-byte blocks) of up to 32 bytes and a counter byte.
    static func hmac(_ key: Key256, _ input: Key256?, _ counter: UInt8?) -> Key256 {
        var inner = Blake2s(size: 32)
        inner.update(pad(key, 0x3636_3636_3636_3636))
        inner.update(Key256(words: SIMD4(repeating: 0x3636_3636_3636_3636)))
        if let input { inner.update(input) }
        if let counter { inner.update(counter) }
        var outer = Blake2s(size: 32)
        outer.update(pad(key, 0x5c5c_5c5c_5c5c_5c5c))
        outer.update(Key256(words: SIMD4(repeating: 0x5c5c_5c5c_5c5c_5c5c)))
        outer.update(inner.finish())
        return outer.finish()
    }

    /// Kdf1, Kdf2, Kdf3 (key, input): HKDF with one, two or three outputs; a nil input is the empty one.
    static func derive(_ key: Key256, _ input: Key256?) -> (Key256, Key256, Key256) {
        let secret = hmac(key, input, nil)
        let first = hmac(secret, nil, 1)
        let second = hmac(secret, first, 2)
        return (first, second, hmac(secret, second, 3))
    }

    /// Kdf1, for the common case that needs no more.
    static func derive1(_ key: Key256, _ input: Key256?) -> Key256 {
        hmac(hmac(key, input, nil), nil, 1)
    }

    /// Kdf2.
    static func derive2(_ key: Key256, _ input: Key256?) -> (Key256, Key256) {
        let secret = hmac(key, input, nil)
        let first = hmac(secret, nil, 1)
        return (first, hmac(secret, first, 2))
    }

    private static func pad(_ key: Key256, _ pattern: UInt64) -> Key256 {
        Key256(words: key.words ^ SIMD4(repeating: pattern))
    }
}
