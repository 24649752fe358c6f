import Control
import Foundation
import ProviderKit
import Testing

/// Secrets of a configuration as a client meets them through the manager.
@Suite("Daemon and keychain", .serialized, .enabled(if: isRoot, "needs root for namespaces"))
struct DaemonKeychainTests {
    /// Adds a secret of an application, and gives the reference to it.
    private func add(
        _ account: String, of application: String, accessible: String, _ client: ManagerClient
    ) throws -> KeychainReference {
        let query: KeychainQuery = [
            .itemClass: "genp", .service: "test", .account: .string(account), .accessible: .string(accessible),
            .valueData: .data(Array("secret".utf8)), .returnPersistentReference: true,
        ]
        let reply = try client.call(
            .addItem, KeychainMessages.Query(query, application: application, owner: nil),
            reply: KeychainMessages.Items.self)
        return try #require(reply.items.first?.reference)
    }

    /// Saves a configuration that needs a secret, and loads it again.
    private func saved(_ reference: KeychainReference, _ client: ManagerClient) async throws -> TunnelProviderManager {
        _ = try await TunnelProviderManager.loadAllFromPreferences(client: client)
        let manager = TunnelProviderManager(client: client)
        manager.protocolConfiguration = TunnelProviderProtocol(
            providerBundleIdentifier: "org.providerhost.loopback", serverAddress: "label",
            providerConfiguration: [
                TunnelProviderProtocol.keychainReferencesKey: .dictionary(["name": .data(reference.bytes)])
            ])
        manager.localizedDescription = "office"
        manager.isEnabled = true
        try await manager.saveToPreferences()
        try await manager.loadFromPreferences()
        return manager
    }

    /// Starts the tunnel, and stops it once it is up.
    private func start(_ manager: TunnelProviderManager, _ host: DaemonLab) throws {
        try manager.connection.startVPNTunnel()
        try eventually("the tunnel") { try host.object("status", "office")["status"] as? String == "connected" }
        try host.checked("stop", "office", "--wait")
    }

    /// The keychain's status that a start is refused with, before any line of a provider.
    private func refusal(of manager: TunnelProviderManager) throws -> KeychainStatus? {
        let error = try #require(throws: TunnelFailure.self) { try manager.connection.startVPNTunnel() }
        #expect(error.errorDomain == KeychainStatus.domain && !error.cause.isEmpty && !error.remedy.isEmpty)
        #expect(!"\(error)".contains("secret"))
        return KeychainStatus(rawValue: error.errorCode)
    }

    @Test("T12: a locked keychain, a deleted item and another application's item are three errors of a start")
    func threeErrors() async throws {
        try await DaemonLab.run { host in
            let (mine, theirs) = ("com.example.app", "com.example.other")
            let client = host.client(mine)
            let reference = try add("a", of: mine, accessible: "ak", client)
            let manager = try await saved(reference, client)
            try start(manager, host)

            try host.checked("keychain", "lock")
            #expect(try refusal(of: manager) == .interactionNotAllowed)
            #expect(KeychainStatus.interactionNotAllowed.rawValue == -25308)
            // The configuration is as it was, and a start succeeds after the unlock.
            let again = try await TunnelProviderManager.loadAllFromPreferences(client: host.client(mine))
            #expect(again.count == 1 && again.first?.protocolConfiguration == manager.protocolConfiguration)
            try host.checked("keychain", "unlock")
            try start(manager, host)

            let foreign = try add("b", of: theirs, accessible: "ck", client)
            manager.protocolConfiguration?.providerConfiguration[TunnelProviderProtocol.keychainReferencesKey] =
                .dictionary(["name": .data(foreign.bytes)])
            try await manager.saveToPreferences()
            try await manager.loadFromPreferences()
            #expect(try refusal(of: manager) == .missingEntitlement)

            manager.protocolConfiguration?.providerConfiguration[TunnelProviderProtocol.keychainReferencesKey] =
                .dictionary(["name": .data(reference.bytes)])
            try await manager.saveToPreferences()
            try await manager.loadFromPreferences()
            _ = try await client.call(
                .deleteItems,
                KeychainMessages.Query(
                    [.valuePersistentReference: .data(reference.bytes)], application: mine, owner: nil),
                reply: NoParameters.self)
            #expect(try refusal(of: manager) == .itemNotFound)
            #expect(try await TunnelProviderManager.loadAllFromPreferences(client: host.client(mine)).count == 1)
        }
    }

    @Test("T12: after a restart a keychain with a passphrase stays closed until it is unlocked")
    func restart() async throws {
        try await DaemonLab.run { host in
            let application = "com.example.app"
            let reference = try add("a", of: application, accessible: "ck", host.client(application))
            _ = try await saved(reference, host.client(application))
            let passphrase = try host.lab.write("passphrase", "correct horse")
            try host.checked("keychain", "passphrase", "--new", passphrase)
            host.daemon.signal(SIGTERM)
            _ = try host.daemon.waitForExit()
            try host.restart()
            let client = host.client(application)
            let manager = try #require(try await TunnelProviderManager.loadAllFromPreferences(client: client).first)
            #expect(try refusal(of: manager) == .interactionNotAllowed)
            let wrong = try host.lab.write("wrong", "incorrect horse")
            #expect(try host.tool("keychain", "unlock", "--file", wrong).status == 1)
            #expect(try refusal(of: manager) == .interactionNotAllowed)
            try host.checked("keychain", "unlock", "--file", passphrase)
            try start(manager, host)
        }
    }
}
