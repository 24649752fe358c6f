import Foundation
import ProviderKit
import SystemStore
import Testing

@Suite struct IdentityTests {
    private let scratch = Scratch()
    private let store: SystemStore
    private let factory: IdentityFactory

    init() throws {
        store = try scratch.open()
        factory = try IdentityFactory(scratch)
    }

    private func add(_ file: [UInt8], _ password: String) throws -> KeychainReference {
        try store.performOnKeychain { session in
            try session.addItem(
                [.itemClass: "idnt", .valueData: .data(file), .importPassphrase: .string(password), .accessible: "ck"],
                .office
            ).reference
        }
    }

    private func configuration(_ file: [UInt8]?, _ password: String?) -> VPNConfiguration {
        var configuration = VPNConfiguration.personal()
        configuration.protocolConfiguration?.common.identityData = file
        configuration.protocolConfiguration?.common.identityDataPassword = password
        return configuration
    }

    private func save(_ configuration: VPNConfiguration) throws -> VPNConfiguration {
        try store.perform { try $0.save(configuration, of: .office) }
    }

    @Test func anIdentityGivesItsFileAndPassword() throws {
        let file = try factory.pkcs12(password: "p12")
        let reference = try add(file, "p12")
        #expect(reference.itemClass == .identity)
        let other = try scratch.open()
        #expect(try other.read { try $0.secret(for: reference, .office).unprotectedCopy() } == file)
        let texts = try other.read { session in
            let identity = try session.identity(for: reference, .office)
            return [identity.password.text, "\(identity.pkcs12.count)"]
        }
        #expect(texts == ["p12", "\(file.count)"])
        var query = KeychainQuery.item(reference)
        query[.returnAttributes] = true
        let found = try store.read { try $0.copyMatching(query, .office).first?.attributes }
        #expect(found?[.label] == "client.example.com")
        // The same certificate is the same item, whatever it is packed in.
        #expect(try #require(throws: KeychainError.self) { _ = try add(file, "p12") }.code == .duplicateItem)
    }

    @Test func aFileThatIsNotUsableIsRefusedWithItsReason() throws {
        let whole = try factory.pkcs12(password: "p12")
        let cases: [(file: [UInt8], password: String, word: String)] = [
            (whole, "wrong", "password does not open"), (whole, "", "password of the PKCS#12 file is missing"),
            (Array(whole.dropLast(10)), "p12", "no PKCS#12"), ([], "p12", "no PKCS#12"),
            (try factory.certificate(), "p12", "no PKCS#12"),
            (try factory.pkcs12(password: "p12", withKey: false), "p12", "no private key"),
            (try factory.pkcs12(password: "p12", withCertificate: false), "p12", "no certificate"),
        ]
        for (file, password, word) in cases {
            let asItem = try #require(throws: KeychainError.self) { _ = try add(file, password) }
            #expect(asItem.errorCode == -50 && asItem.cause.contains(word), "\(asItem)")
            let asData = try #require(throws: VPNError.self) { _ = try save(configuration(file, password)) }
            #expect(asData.code == .configurationInvalid && asData.cause.contains(word), "\(asData)")
        }
        #expect(try store.read { try $0.allConfigurations() }.isEmpty)
    }

    @Test func oneChangedByteIsNoticed() throws {
        let whole = try factory.pkcs12(password: "p12")
        for index in stride(from: 60, to: whole.count - 60, by: 37) {
            var changed = whole
            changed[index] ^= 0x10
            #expect(throws: KeychainError.self) { _ = try add(changed, "p12") }
        }
    }

    @Test func identityDataIsKeptAndItsPasswordSealed() throws {
        let file = try factory.pkcs12(password: "correct horse")
        let saved = try save(configuration(file, "correct horse"))
        #expect(saved.protocolConfiguration?.common.identityData == file)
        #expect(saved.protocolConfiguration?.common.identityDataPassword == nil)
        for name in try scratch.names where name.hasPrefix("store") {
            #expect(!String(decoding: try Contents.of(scratch.path(name)), as: UTF8.self).contains("correct horse"))
        }
        func password() throws -> String? {
            try scratch.open().read { try $0.identityDataPassword(saved.identifier)?.text }
        }
        #expect(try password() == "correct horse")

        // Load, modify, save: the same file needs no password again.
        var loaded = try #require(try store.read { try $0.configuration(saved.identifier, of: .office) })
        loaded.isEnabled = true
        loaded = try save(loaded)
        #expect(try password() == "correct horse")

        // Another file does, and none takes the password away.
        loaded.protocolConfiguration?.common.identityData = try factory.pkcs12(password: "new")
        #expect(try #require(throws: VPNError.self) { _ = try save(loaded) }.cause.contains("password"))
        #expect(try password() == "correct horse")
        loaded.protocolConfiguration?.common.identityData = nil
        _ = try save(loaded)
        #expect(try password() == nil)
    }

    @Test func aTunnelProviderGetsNoIdentityData() throws {
        var configuration = VPNConfiguration.tunnel()
        configuration.protocolConfiguration?.common.identityData = try factory.pkcs12(password: "p")
        configuration.protocolConfiguration?.common.identityDataPassword = "p"
        let saved = try save(configuration)
        #expect(saved.protocolConfiguration?.common.identityData == nil)
        #expect(try store.read { try $0.identityDataPassword(saved.identifier) } == nil)
    }

    @Test func trustAnchorsComeFromAnAdministratorsProfile() throws {
        let certificate = try factory.certificate()
        let refused = try #require(throws: VPNError.self) {
            try store.perform { try $0.setTrustAnchors([certificate], ofProfile: "com.example.profile", by: 1000) }
        }
        #expect(refused.cause.contains("1000"))
        let invalid = try #require(throws: VPNError.self) {
            try store.perform {
                try $0.setTrustAnchors([certificate, [0x30]], ofProfile: "com.example.profile", by: 0)
            }
        }
        #expect(invalid.code == .configurationInvalid && invalid.cause.contains("Trust anchor 2"))
        #expect(try store.read { try $0.trustAnchors() }.isEmpty)

        for profile in ["a", "b"] {
            try store.perform { try $0.setTrustAnchors([certificate], ofProfile: profile, by: 0) }
        }
        let anchors = try scratch.open().read { try $0.trustAnchors() }
        #expect(anchors.map(\.profile) == ["a", "b"] && anchors.allSatisfy { $0.certificate == certificate })
        #expect(anchors.allSatisfy { $0.subject.contains("client.example.com") })
        try store.perform { try $0.setTrustAnchors([], ofProfile: "b", by: 0) }
        #expect(try store.read { try $0.trustAnchors() }.map(\.profile) == ["a"])
    }
}
