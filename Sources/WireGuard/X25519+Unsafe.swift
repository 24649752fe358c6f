internal import CSodium

/// Diffie-Hellman on curve25519 (RFC 7748) by libsodium.
enum X25519 {
    /// The public key of a private key.
    static func publicKey(of privateKey: Key256) -> Key256 {
        var result = Key256.zero
        // SAFETY: both pointers cover exactly 32 bytes.
        unsafe privateKey.withBytes { secret in
            unsafe result.withMutableBytes { _ = unsafe crypto_scalarmult_curve25519_base($0, secret) }
        }
        return result
    }

    /// The shared secret, nil if it is all zero, which a low-order public key gives (RFC 7748 section 6.1).
    static func sharedSecret(_ privateKey: Key256, _ publicKey: Key256) -> Key256? {
        var result = Key256.zero
        // SAFETY: the three pointers cover exactly 32 bytes each.
        let status = unsafe privateKey.withBytes { secret in
            unsafe publicKey.withBytes { point in
                unsafe result.withMutableBytes { unsafe crypto_scalarmult_curve25519($0, secret, point) }
            }
        }
        guard status == 0, !result.isZero else { return nil }
        return result
    }
}
