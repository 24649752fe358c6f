internal import COpenSSL
internal import Foundation

/// What a PKCS#12 file holds, as far as it is public.
struct Identity {
    /// The issuer and the serial number, which no two certificates share.
    let certificateKey: [UInt8]
    /// The subject's common name, empty where it has none.
    let commonName: String

    /// Opens a PKCS#12 file and checks that key and certificate are there, belong together and are not out of date.
    static func check(pkcs12 data: [UInt8], password: String) throws(IdentityDefect) -> Identity {
        guard !password.isEmpty else { throw .passwordMissing }
        guard !password.utf8.contains(0) else { throw .passwordWrong }
        // SAFETY: the parser reads at most the count that is given, and moves the pointer, which is a copy.
        let parsed = unsafe data.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return unsafe d2i_PKCS12(nil, &start, buffer.count)
        }
        guard let parsed = unsafe parsed else {
            ERR_clear_error()
            throw .notPKCS12
        }
        defer { unsafe PKCS12_free(parsed) }
        // Without this check a wrong password and damage look alike.
        guard unsafe PKCS12_mac_present(parsed) == 0 || PKCS12_verify_mac(parsed, password, -1) == 1 else {
            ERR_clear_error()
            throw .passwordWrong
        }
        var key: OpaquePointer?
        var certificate: OpaquePointer?
        // SAFETY: both results are ours, and freed below.
        let opened = unsafe PKCS12_parse(parsed, password, &key, &certificate, nil)
        defer {
            unsafe EVP_PKEY_free(key)
            unsafe X509_free(certificate)
        }
        guard opened == 1 else { throw .unreadable(lastReason()) }
        guard unsafe key != nil else { throw .keyMissing }
        guard let certificate = unsafe certificate else { throw .certificateMissing }
        guard unsafe X509_check_private_key(certificate, key) == 1 else {
            ERR_clear_error()
            throw .keyMismatch
        }
        guard unsafe !isExpired(certificate) else { throw .expired }
        return unsafe Identity(certificateKey: Self.key(of: certificate), commonName: commonName(of: certificate))
    }

    /// Checks a certificate alone (DER).
    ///
    /// - Returns: The subject in one line, or nil when the bytes are no certificate.
    static func subject(ofCertificate data: [UInt8]) -> String? {
        // SAFETY: as above.
        let parsed: (certificate: OpaquePointer?, isWhole: Bool) = unsafe data.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            let certificate = unsafe d2i_X509(nil, &start, buffer.count)
            return unsafe (certificate, start == buffer.baseAddress?.advanced(by: buffer.count))
        }
        guard let certificate = unsafe parsed.certificate else {
            ERR_clear_error()
            return nil
        }
        defer { unsafe X509_free(certificate) }
        // SAFETY: OpenSSL allocates the line because no buffer is given; it is copied and freed.
        guard unsafe parsed.isWhole,
            let line = unsafe X509_NAME_oneline(X509_get_subject_name(certificate), nil, 0)
        else { return nil }
        defer { unsafe CRYPTO_free(line, nil, 0) }
        return unsafe String(cString: line)
    }

    private static func isExpired(_ certificate: OpaquePointer) -> Bool {
        unsafe X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0
    }

    private static func key(of certificate: OpaquePointer) -> [UInt8] {
        let issuer = unsafe encoded { unsafe i2d_X509_NAME(X509_get_issuer_name(certificate), $0) }
        return unsafe issuer + encoded { unsafe i2d_ASN1_INTEGER(X509_get0_serialNumber(certificate), $0) }
    }

    /// Calls an encoder as OpenSSL wants it: once for the length, once for the bytes.
    private static func encoded(
        _ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    ) -> [UInt8] {
        let length = Int(encode(nil))
        guard length > 0 else { return [] }
        // SAFETY: the encoder writes the number of bytes that it gave, and moves the pointer, which is a copy.
        return unsafe [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            var start = buffer.baseAddress
            count = max(0, Int(unsafe encode(&start)))
        }
    }

    private static func commonName(of certificate: OpaquePointer) -> String {
        var text = [CChar](repeating: 0, count: 256)
        // SAFETY: at most `count` bytes are written, with a NUL at the end.
        let length = unsafe X509_NAME_get_text_by_NID(
            X509_get_subject_name(certificate), NID_commonName, &text, Int32(text.count))
        guard length > 0 else { return "" }
        return String(decoding: text.prefix(Int(length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func lastReason() -> String {
        defer { ERR_clear_error() }
        // SAFETY: the text is a constant of OpenSSL's.
        guard let reason = unsafe ERR_reason_error_string(ERR_get_error()) else { return "unknown" }
        return unsafe String(cString: reason)
    }
}

/// Why a PKCS#12 file is not usable.
enum IdentityDefect: Error, Equatable {
    case notPKCS12
    case passwordMissing
    case passwordWrong
    case unreadable(String)
    case keyMissing
    case certificateMissing
    case keyMismatch
    case expired

    /// What is wrong.
    var cause: String {
        switch self {
        case .notPKCS12: "The bytes are no PKCS#12 file."
        case .passwordMissing: "The password of the PKCS#12 file is missing."
        case .passwordWrong: "The password does not open the PKCS#12 file, or the file was changed."
        case .unreadable(let reason): "The PKCS#12 file cannot be opened (\(reason))."
        case .keyMissing: "The PKCS#12 file holds no private key."
        case .certificateMissing: "The PKCS#12 file holds no certificate."
        case .keyMismatch: "The private key and the certificate do not belong together."
        case .expired: "The certificate has expired."
        }
    }

    /// What to do about it.
    var remedy: String {
        switch self {
        case .notPKCS12: "Convert it with `openssl pkcs12 -export`."
        case .passwordMissing: "Give its password; a file without one is not accepted."
        case .passwordWrong: "Give the password that it was exported with."
        case .unreadable: "Export it again with a current `openssl pkcs12 -export`."
        case .keyMissing, .certificateMissing: "Export the private key together with its certificate."
        case .keyMismatch: "Export the certificate that was issued for this key."
        case .expired: "Get a new certificate from its issuer."
        }
    }
}
