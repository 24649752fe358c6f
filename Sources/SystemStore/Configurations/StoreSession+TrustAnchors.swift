internal import ProviderKit
internal import SQLite

/// Certificates that servers are trusted by. They come with an administrator's profile, never from an application, and
/// have nothing to do with how a client proves who it is.
extension StoreSession {
    /// Makes the certificates of a profile its trust anchors, in place of those that it had.
    ///
    /// - Parameters:
    ///   - certificates: Certificates in DER; none to remove the profile's.
    ///   - profile: The identifier of the profile.
    ///   - user: Who installs it: only root may.
    /// - Throws: ``VPNError``, code configurationReadWriteFailed for anybody else, configurationInvalid for other bytes.
    public func setTrustAnchors(_ certificates: [[UInt8]], ofProfile profile: String, by user: UInt32) throws {
        guard user == 0 else {
            throw VPNError(
                .configurationReadWriteFailed, cause: "User \(user) may not install trust anchors.",
                remedy: "Ask an administrator to install the profile.")
        }
        try database.run("DELETE FROM trust_anchors WHERE profile = ?", .text(profile))
        for (index, certificate) in certificates.enumerated() {
            guard let subject = Identity.subject(ofCertificate: certificate) else {
                throw VPNError(
                    .configurationInvalid, cause: "Trust anchor \(index + 1) of \(profile) is no certificate in DER.",
                    remedy: "Convert it with `openssl x509 -outform der`.")
            }
            try database.run(
                "INSERT OR REPLACE INTO trust_anchors (fingerprint, subject, certificate, profile, installed)"
                    + " VALUES (?, ?, ?, ?, ?)",
                .blob(Sealing.fingerprint(certificate)), .text(subject), .blob(certificate), .text(profile),
                .integer(now))
        }
    }

    /// All trust anchors.
    public func trustAnchors() throws -> [TrustAnchor] {
        try database.rows("SELECT subject, certificate, profile FROM trust_anchors ORDER BY profile, subject") { row in
            TrustAnchor(subject: row.text(0), certificate: row.bytes(1), profile: row.text(2))
        }
    }
}

/// A certificate that servers are trusted by.
public struct TrustAnchor: Sendable, Hashable {
    /// Whose certificate it is, in one line.
    public let subject: String
    /// The certificate in DER.
    public let certificate: [UInt8]
    /// The identifier of the profile that brought it.
    public let profile: String
}
