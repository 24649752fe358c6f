import Foundation
import ProviderKit
import SystemStore
import Testing

@Suite struct LockTests {
    private let scratch = Scratch()

    private func status(_ store: SystemStore, _ reference: KeychainReference) throws -> KeychainStatus? {
        do {
            _ = try store.read { try $0.secret(for: reference, .office) }
            return nil
        } catch let error as KeychainError {
            return error.code
        }
    }

    /// A store with an item of each class.
    private func fill() throws -> (store: SystemStore, background: KeychainReference, foreground: KeychainReference) {
        let store = try scratch.open()
        return try store.performOnKeychain { session in
            let background = try session.addItem(.password("b", account: "b", accessible: "ck"), .office).reference
            let foreground = try session.addItem(.password("f", account: "f", accessible: "ak"), .office).reference
            return (store, background, foreground)
        }
    }

    @Test func aServerWithoutAPassphraseIsReadyAfterAReboot() throws {
        let (_, background, foreground) = try fill()
        let rebooted = try scratch.open()
        #expect(try rebooted.read { $0.keychainLockState } == .unlocked)
        #expect(try status(rebooted, background) == nil && status(rebooted, foreground) == nil)
    }

    @Test func lockingClosesWhatIsReadableWhileUnlockedOnly() throws {
        let (store, background, foreground) = try fill()
        try store.perform { $0.lockKeychain() }
        #expect(try store.read { $0.keychainLockState } == .locked)
        #expect(try status(store, background) == nil)
        #expect(try status(store, foreground) == .interactionNotAllowed)
        #expect(KeychainStatus.interactionNotAllowed.rawValue == -25308)
        // Neither a new value nor another class for it.
        for attributes: KeychainQuery in [[.valueData: .data([1])], [.accessible: "ck"]] {
            let error = try #require(throws: KeychainError.self) {
                try store.performOnKeychain { try $0.updateItems(.item(foreground), to: attributes, .office) }
            }
            #expect(error.code == .interactionNotAllowed)
        }
        try store.perform { try $0.unlockKeychain(nil) }
        #expect(try status(store, foreground) == nil)
    }

    @Test func aPassphraseKeepsEverythingClosedUntilTheFirstUnlock() throws {
        let (store, background, foreground) = try fill()
        try store.perform { try $0.changeKeychainPassphrase(from: nil, to: SecretBytes("tr0ub4dor")) }
        #expect(try status(store, foreground) == nil)

        let rebooted = try scratch.open()
        #expect(try rebooted.read { $0.keychainLockState } == .neverUnlocked)
        #expect(try status(rebooted, background) == .interactionNotAllowed)
        #expect(throws: KeychainError.self) {
            try rebooted.performOnKeychain { _ = try $0.addItem(.password(account: "new"), .office) }
        }
        // Configurations do not depend on it.
        _ = try rebooted.perform { try $0.save(.tunnel(), of: .office) }

        for wrong in [nil, SecretBytes(""), SecretBytes("tr0ub4dor ")] {
            let error = try #require(throws: KeychainError.self) {
                try rebooted.perform { try $0.unlockKeychain(wrong) }
            }
            #expect(error.code == .authenticationFailed)
        }
        try rebooted.perform { try $0.unlockKeychain(SecretBytes("tr0ub4dor")) }
        #expect(try status(rebooted, background) == nil && status(rebooted, foreground) == nil)
        try rebooted.perform { $0.lockKeychain() }
        #expect(throws: KeychainError.self) { try rebooted.perform { try $0.unlockKeychain(SecretBytes("x")) } }
        #expect(try rebooted.read { $0.keychainLockState } == .locked)
        #expect(try status(rebooted, background) == nil)
    }

    @Test func thePassphraseIsChangedAndTakenAway() throws {
        let (store, _, foreground) = try fill()
        let one = SecretBytes("one")
        let two = SecretBytes("two")
        try store.perform { try $0.changeKeychainPassphrase(from: nil, to: one) }
        #expect(throws: KeychainError.self) {
            try store.perform { try $0.changeKeychainPassphrase(from: two, to: two) }
        }
        #expect(throws: KeychainError.self) {
            try store.perform { try $0.changeKeychainPassphrase(from: one, to: SecretBytes("")) }
        }
        try store.perform { try $0.changeKeychainPassphrase(from: one, to: two) }
        let rebooted = try scratch.open()
        #expect(throws: KeychainError.self) { try rebooted.perform { try $0.unlockKeychain(one) } }
        try rebooted.perform { try $0.changeKeychainPassphrase(from: two, to: nil) }
        #expect(try status(try scratch.open(), foreground) == nil)
    }

    @Test func theStoreAloneOpensNothing() throws {
        let (_, background, _) = try fill()
        try FileManager.default.removeItem(atPath: scratch.path("device.key"))
        let stolen = try scratch.open()
        #expect(try stolen.read { $0.keychainLockState } == .unavailable)
        #expect(try status(stolen, background) == .notAvailable)
        #expect(throws: KeychainError.self) { try stolen.perform { try $0.unlockKeychain(nil) } }
        // No other key is made in its place, and configurations go on.
        #expect(try !scratch.names.contains("device.key"))
        _ = try stolen.perform { try $0.save(.tunnel(), of: .office) }
    }

    @Test func anotherMachinesKeyOpensNothing() throws {
        let (_, background, _) = try fill()
        try Data(repeating: 7, count: 32).write(to: URL(fileURLWithPath: scratch.path("device.key")))
        let store = try scratch.open()
        #expect(try status(store, background) == .interactionNotAllowed)
        let error = try #require(throws: KeychainError.self) { try store.perform { try $0.unlockKeychain(nil) } }
        #expect(error.code == .notAvailable && error.cause.contains("does not fit"))
    }

    @Test func aKeyThatOthersMayReadIsNotUsed() throws {
        let (_, background, _) = try fill()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: scratch.path("device.key"))
        #expect(try status(try scratch.open(), background) == .notAvailable)
    }
}
