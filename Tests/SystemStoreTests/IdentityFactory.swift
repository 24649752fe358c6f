import Foundation
import Testing

/// Makes certificates and PKCS#12 files with the `openssl` program, in a folder of its own.
struct IdentityFactory {
    let scratch: Scratch

    init(_ scratch: Scratch) throws {
        self.scratch = scratch
        try FileManager.default.createDirectory(atPath: scratch.path("openssl"), withIntermediateDirectories: true)
    }

    /// A PKCS#12 file with a new key and its certificate.
    func pkcs12(
        password: String, days: Int = 30, withKey: Bool = true, withCertificate: Bool = true
    ) throws -> [UInt8] {
        try makeCertificate(days: days)
        var arguments = ["pkcs12", "-export", "-out", path("out.p12"), "-passout", "pass:\(password)"]
        if withCertificate { arguments += ["-in", path("certificate.pem")] }
        arguments += withKey ? ["-inkey", path("key.pem")] : ["-nokeys"]
        if !withCertificate { arguments += ["-nocerts"] }
        try openssl(arguments)
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path("out.p12"))))
    }

    /// A certificate in DER.
    func certificate() throws -> [UInt8] {
        try makeCertificate(days: 30)
        try openssl("x509", "-in", path("certificate.pem"), "-outform", "der", "-out", path("certificate.der"))
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path("certificate.der"))))
    }

    private func makeCertificate(days: Int) throws {
        try openssl("genpkey", "-algorithm", "ED25519", "-out", path("key.pem"))
        try openssl(
            "req", "-x509", "-key", path("key.pem"), "-out", path("certificate.pem"), "-days", "\(days)", "-subj",
            "/CN=client.example.com")
    }

    private func path(_ name: String) -> String { scratch.path("openssl/" + name) }

    private func openssl(_ arguments: String...) throws { try openssl(arguments) }

    private func openssl(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "openssl \(arguments.joined(separator: " "))")
    }
}
