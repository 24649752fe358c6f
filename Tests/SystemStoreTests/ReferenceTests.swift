import ProviderKit
import SystemStore
import Testing

/// Configurations and the keychain items that they refer to.
@Suite struct ReferenceTests {
    private struct Abandoned: Error {}

    private let scratch = Scratch()
    private let store: SystemStore

    init() throws { store = try scratch.open() }

    /// Adds a password and saves a configuration that refers to it.
    private func saveWithPassword(
        _ session: StoreSession, _ client: StoreClient = .office
    ) throws -> VPNConfiguration {
        var configuration = VPNConfiguration.tunnel()
        configuration.protocolConfiguration?.common.passwordReference = try session.addItem(.password(), client)
            .reference
        return try session.save(configuration, of: client)
    }

    private func refusal(_ change: (inout VPNConfiguration) -> Void) throws -> KeychainError {
        var configuration = VPNConfiguration.personal()
        change(&configuration)
        let changed = configuration
        return try #require(throws: KeychainError.self) { try store.perform { try $0.save(changed, of: .office) } }
    }

    @Test func anItemAndItsConfigurationAreSavedTogether() throws {
        let saved = try store.perform { try saveWithPassword($0) }
        let reference = try #require(saved.protocolConfiguration?.common.passwordReference)
        let other = try scratch.open()
        #expect(try other.read { try $0.configurations(of: .office) } == [saved])
        #expect(try other.read { try $0.secret(for: reference, .office).text } == "s3cret")
    }

    @Test func neitherIsThereWhenTheSaveFails() throws {
        #expect(throws: Abandoned.self) {
            try store.perform { session in
                _ = try saveWithPassword(session)
                throw Abandoned()
            }
        }
        #expect(throws: VPNError.self) {
            try store.perform { session in
                _ = try session.addItem(.password(), .office)
                try session.save(.tunnel(""), of: .office)
            }
        }
        #expect(try store.read { try $0.allConfigurations() }.isEmpty)
        #expect(throws: KeychainError.self) {
            try store.read { _ = try $0.copyMatching([.itemClass: "genp"], .office) }
        }
    }

    @Test(arguments: ["hunter2", "", "genp0123456789abcde", "genp0123456789abcdefg"])
    func bytesThatAreNoReferenceAreRefused(_ text: String) throws {
        let raw = KeychainReference(Array(text.utf8))
        let password = try refusal { $0.protocolConfiguration?.common.passwordReference = raw }
        #expect(
            password.errorCode == -50 && password.cause.contains("passwordReference holds \(text.utf8.count) bytes"))
        #expect(text.isEmpty || !"\(password)".contains(text))
        let secret = try refusal { $0.protocolConfiguration?[.sharedSecretReference] = raw }
        #expect(secret.errorCode == -50 && secret.cause.contains("sharedSecretReference"))
    }

    @Test func theClassOfAReferenceMustFit() throws {
        let password = try store.perform { try $0.addItem(.password(), .office).reference }
        let error = try refusal { $0.protocolConfiguration?.common.identityReference = password }
        #expect(error.errorCode == -50 && error.cause.contains("identityReference refers to a generic password"))
    }

    @Test func passwordAndSharedSecretAreSeparateItems() throws {
        let one = try store.perform { try $0.addItem(.password(), .office).reference }
        let error = try refusal {
            $0.protocolConfiguration?.common.passwordReference = one
            $0.protocolConfiguration?[.sharedSecretReference] = one
        }
        #expect(error.errorCode == -50 && error.cause.contains("same item"))
    }

    @Test func aNewReferenceMustBeUsable() throws {
        let dangling = KeychainReference(itemClass: .genericPassword, identifier: UniqueIdentifier())
        #expect(try refusal { $0.protocolConfiguration?.common.passwordReference = dangling }.code == .itemNotFound)
        let foreign = try store.perform { try $0.addItem(.password(), .home).reference }
        #expect(
            try refusal { $0.protocolConfiguration?.common.passwordReference = foreign }.code == .missingEntitlement)
        let strangers = try store.perform { try $0.addItem(.password(), .stranger).reference }
        #expect(try refusal { $0.protocolConfiguration?.common.passwordReference = strangers }.code == .itemNotFound)
    }

    @Test func aDanglingReferenceDoesNotKeepTheOwnerFromSaving() throws {
        var saved = try store.perform { try saveWithPassword($0) }
        let reference = try #require(saved.protocolConfiguration?.common.passwordReference)
        try store.perform { try $0.deleteItems(.item(reference), .office) }
        saved.isEnabled = false
        let again = saved
        _ = try store.perform { try $0.save(again, of: .office) }
        let error = try #require(throws: KeychainError.self) {
            try store.read { _ = try $0.secret(for: reference, .office) }
        }
        #expect(error.code == .itemNotFound)
    }

    @Test func rotationGivesTheNewSecretToAStartWithoutAClient() throws {
        let saved = try store.perform { try saveWithPassword($0) }
        let rotated = try store.perform { session in
            try session.rotate(
                [.valueData: .data(Array("new".utf8))], of: .passwordReference, in: saved.identifier, .office)
        }
        #expect(rotated.generation ?? 0 > saved.generation ?? 0)
        // What a manager does that has just started.
        let (configuration, secret) = try scratch.open().read { session in
            let configuration = try session.allConfigurations()[0].configuration
            let reference = try #require(configuration.protocolConfiguration?.common.passwordReference)
            return (configuration, try session.secret(for: reference, .office).text)
        }
        #expect(configuration == rotated && secret == "new")
        // A client that had loaded before has to load again.
        #expect(throws: VPNError.self) { try store.perform { try $0.save(saved, of: .office) } }
    }

    @Test func rotationThatFailsLeavesTheOldSecret() throws {
        let saved = try store.perform { try saveWithPassword($0) }
        let reference = try #require(saved.protocolConfiguration?.common.passwordReference)
        #expect(throws: VPNError.self) {
            try store.perform {
                try $0.rotate([.valueData: .data([1])], of: .identityReference, in: saved.identifier, .office)
            }
        }
        #expect(throws: KeychainError.self) {
            try store.perform { try $0.rotate([:], of: .passwordReference, in: saved.identifier, .office) }
        }
        #expect(throws: VPNError.self) {
            try store.perform {
                try $0.rotate([.valueData: .data([1])], of: .passwordReference, in: UniqueIdentifier(), .office)
            }
        }
        #expect(try store.read { try $0.secret(for: reference, .office).text } == "s3cret")
        #expect(try store.read { try $0.configurations(of: .office) } == [saved])
    }
}
