/// What is sealed of an identity: four bytes with the length of the PKCS#12 file, the file, and its password.
enum IdentitySecret {
    /// Joins both.
    static func join(pkcs12: [UInt8], password: String) -> SecretBytes {
        let length = UInt32(pkcs12.count)
        var joined = (0..<4).map { UInt8(truncatingIfNeeded: length >> UInt32(8 * $0)) } + pkcs12 + Array(password.utf8)
        return SecretBytes(wiping: &joined)
    }

    /// Takes both apart; nil for bytes that were not joined so.
    static func split(_ joined: SecretBytes) -> (pkcs12: SecretBytes, password: SecretBytes)? {
        let header = 4
        guard joined.count >= header else { return nil }
        return unsafe joined.withPointer { start in
            let length = (0..<header).reduce(0) { unsafe $0 | Int(start[$1]) << (8 * $1) }
            let rest = joined.count - header - length
            guard rest >= 0 else { return nil }
            // SAFETY: both parts lie within the joined bytes, and have the lengths of their targets.
            let file = unsafe SecretBytes(count: length) { unsafe $0.update(from: start + header, count: length) }
            let password = unsafe SecretBytes(count: rest) {
                unsafe $0.update(from: start + header + length, count: rest)
            }
            return (file, password)
        }
    }
}
