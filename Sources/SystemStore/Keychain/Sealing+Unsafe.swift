internal import CSodium

/// Authenticated encryption of what lies in the store: XChaCha20-Poly1305 with a random nonce before the ciphertext.
///
/// `context` is bound to the sealed bytes: they open in the row that they were made for and in no other.
enum Sealing {
    static let keyLength = 32
    private static let nonceLength = 24
    private static let tagLength = 16

    /// Encrypts a secret.
    static func seal(_ secret: SecretBytes, key: SecretBytes, context: [UInt8]) -> [UInt8] {
        precondition(key.count == keyLength, "a key has 32 bytes")
        let nonce = SecretBytes(randomCount: nonceLength).unprotectedCopy()
        var text = [UInt8](repeating: 0, count: secret.count + tagLength)
        // SAFETY: the ciphertext has room for secret and tag; key and nonce have the cipher's lengths.
        let result = unsafe secret.withPointer { message in
            unsafe key.withPointer { key in
                unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
                    &text, nil, message, UInt64(secret.count), context, UInt64(context.count), nil, nonce, key)
            }
        }
        precondition(result == 0, "the cipher refuses its own lengths")
        return nonce + text
    }

    /// Decrypts a secret.
    ///
    /// - Returns: nil when the bytes were changed, or made for another context or key.
    static func open(_ sealed: [UInt8], key: SecretBytes, context: [UInt8]) -> SecretBytes? {
        precondition(key.count == keyLength, "a key has 32 bytes")
        guard sealed.count >= nonceLength + tagLength else { return nil }
        let nonce = Array(sealed[..<nonceLength])
        let text = Array(sealed[nonceLength...])
        var result: Int32 = -1
        let secret = unsafe SecretBytes(count: text.count - tagLength) { output in
            // SAFETY: the output has room for the text without its tag; key and nonce have the cipher's lengths.
            unsafe key.withPointer { key in
                unsafe result = crypto_aead_xchacha20poly1305_ietf_decrypt(
                    output, nil, nil, text, UInt64(text.count), context, UInt64(context.count), nonce, key)
            }
        }
        return result == 0 ? secret : nil
    }

    /// Mixes a message into a key (keyed BLAKE2b).
    static func derive(key: SecretBytes, message: SecretBytes) -> SecretBytes {
        unsafe SecretBytes(count: keyLength) { output in
            // SAFETY: output and key have 32 bytes, a length that BLAKE2b allows; the message's own count is passed.
            let result = unsafe key.withPointer { keyStart in
                unsafe message.withPointer { text in
                    unsafe crypto_generichash(
                        output, keyLength, text, UInt64(message.count), keyStart, key.count)
                }
            }
            precondition(result == 0, "the hash refuses its own lengths")
        }
    }

    /// Names public bytes by their hash (SHA-256).
    static func fingerprint(_ bytes: [UInt8]) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: 32)
        // SAFETY: the hash has the 32 bytes that SHA-256 writes.
        _ = unsafe crypto_hash_sha256(&hash, bytes, UInt64(bytes.count))
        return hash
    }

    /// Makes a key of a passphrase (Argon2id).
    ///
    /// - Returns: nil when the memory that the parameters ask for is not there.
    static func stretch(_ passphrase: SecretBytes, _ parameters: PassphraseParameters) -> SecretBytes? {
        guard parameters.salt.count == crypto_pwhash_saltbytes() else { return nil }
        var result: Int32 = -1
        let key = unsafe SecretBytes(count: keyLength) { output in
            unsafe passphrase.withPointer { start in
                // SAFETY: bytes and characters have one layout; salt and output have the lengths that Argon2 takes.
                unsafe result = crypto_pwhash(
                    output, UInt64(keyLength), UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self),
                    UInt64(passphrase.count), parameters.salt, parameters.operations, parameters.memoryBytes,
                    crypto_pwhash_alg_argon2id13())
            }
        }
        return result == 0 ? key : nil
    }
}

/// What makes a key out of a passphrase, stored beside what the key protects.
struct PassphraseParameters: Hashable {
    /// 16 random bytes.
    let salt: [UInt8]
    /// Passes over the memory.
    let operations: UInt64
    /// The memory that each try takes.
    let memoryBytes: Int

    /// The parameters of a new passphrase: three passes over 64 MiB, about a fifth of a second.
    static func new() -> PassphraseParameters {
        PassphraseParameters(
            salt: SecretBytes(randomCount: 16).unprotectedCopy(), operations: 3, memoryBytes: 64 << 20)
    }
}
