internal import CSodium

/// The two authenticated ciphers of the protocol by libsodium, for handshakes, cookies and single packets.
///
/// Bulk traffic uses another back end with the same key and counter (see `SealGrant` and `OpenGrant`).
enum AEAD {
    /// The bytes that a tag adds.
    static let tagSize = 16

    /// ChaCha20-Poly1305 (RFC 8439): ciphertext and tag.
    ///
    /// The nonce is four zero bytes and the little-endian counter.
    static func seal(_ plaintext: [UInt8], key: Key256, counter: UInt64, additional: [UInt8]) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: plaintext.count + tagSize)
        let nonce = nonce(counter)
        // SAFETY: the output holds the plaintext's count plus the tag; key and nonce have at least the cipher's sizes.
        unsafe key.withBytes { key in
            unsafe nonce.withBytes {
                _ = unsafe crypto_aead_chacha20poly1305_ietf_encrypt(
                    &output, nil, plaintext, UInt64(plaintext.count), additional, UInt64(additional.count), nil, $0, key
                )
            }
        }
        return output
    }

    /// The plaintext of ciphertext and tag, nil if the tag is wrong or missing.
    static func open(_ sealed: [UInt8], key: Key256, counter: UInt64, additional: [UInt8]) -> [UInt8]? {
        guard sealed.count >= tagSize else { return nil }
        // One byte more than needed keeps the pointer valid for an empty plaintext.
        var output = [UInt8](repeating: 0, count: sealed.count - tagSize + 1)
        let nonce = nonce(counter)
        // SAFETY: the output holds the sealed count less the tag; key and nonce have the cipher's sizes.
        let status = unsafe key.withBytes { key in
            unsafe nonce.withBytes {
                unsafe crypto_aead_chacha20poly1305_ietf_decrypt(
                    &output, nil, nil, sealed, UInt64(sealed.count), additional, UInt64(additional.count), $0, key)
            }
        }
        guard status == 0 else { return nil }
        output.removeLast()
        return output
    }

    /// XChaCha20-Poly1305 with a random 24-byte nonce, as cookie replies use it.
    static func sealExtended(_ plaintext: [UInt8], key: Key256, nonce: [UInt8], additional: [UInt8]) -> [UInt8] {
        precondition(nonce.count == 24)
        var output = [UInt8](repeating: 0, count: plaintext.count + tagSize)
        // SAFETY: the output holds the plaintext's count plus the tag; key and nonce have the cipher's sizes.
        unsafe key.withBytes {
            _ = unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
                &output, nil, plaintext, UInt64(plaintext.count), additional, UInt64(additional.count), nil, nonce, $0)
        }
        return output
    }

    /// Opens what `sealExtended` made, nil if the tag is wrong or missing.
    static func openExtended(_ sealed: [UInt8], key: Key256, nonce: [UInt8], additional: [UInt8]) -> [UInt8]? {
        guard sealed.count >= tagSize, nonce.count == 24 else { return nil }
        var output = [UInt8](repeating: 0, count: sealed.count - tagSize + 1)
        // SAFETY: the output holds the sealed count less the tag; key and nonce have the cipher's sizes.
        let status = unsafe key.withBytes {
            unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
                &output, nil, nil, sealed, UInt64(sealed.count), additional, UInt64(additional.count), nonce, $0)
        }
        guard status == 0 else { return nil }
        output.removeLast()
        return output
    }

    /// The nonce of a counter in the first 12 of the 32 bytes: four zero bytes, then the counter in little-endian order.
    @inline(__always)
    static func nonce(_ counter: UInt64) -> Key256 {
        Key256(words: SIMD4(counter << 32, counter >> 32, 0, 0))
    }
}
