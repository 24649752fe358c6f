import Foundation
import ProviderKit
import Synchronization
import SystemStore

/// A folder of a test's own with a store in it, removed at its end.
final class Scratch: Sendable {
    let folder: StateFolder
    /// What the stores of this folder have reported.
    var reported: [StoreError] { reports.withLock { $0 } }
    private let reports = Mutex<[StoreError]>([])

    init() {
        folder = StateFolder(path: NSTemporaryDirectory() + "store-tests-\(UUID().uuidString)")
    }

    deinit { try? FileManager.default.removeItem(atPath: folder.path) }

    /// Opens the store as a process of its own would.
    func open() throws -> SystemStore {
        try SystemStore(folder: folder) { error in self.reports.withLock { $0.append(error) } }
    }

    func path(_ name: String) -> String { folder.path + "/" + name }

    /// The names in the folder.
    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }
}

extension StoreClient {
    static let office = StoreClient(user: 1000, application: "com.example.office")
    static let home = StoreClient(user: 1000, application: "com.example.home")
    static let stranger = StoreClient(user: 1001, application: "com.example.office")
}

extension VPNConfiguration {
    /// A new configuration that can be saved, as a client has it after its first load.
    static func tunnel(_ name: String = "Office") -> VPNConfiguration {
        var configuration = VPNConfiguration()
        configuration.generation = 0
        configuration.localizedDescription = name
        configuration.protocolConfiguration = .tunnelProvider(
            TunnelProviderProtocol(providerBundleIdentifier: "com.example.tunnel", serverAddress: "vpn.example.com"))
        return configuration
    }

    /// A personal VPN that can be saved.
    static func personal(_ server: String = "vpn.example.com") -> VPNConfiguration {
        var configuration = VPNConfiguration(slot: .personal)
        configuration.generation = 0
        var ikev2 = VPNProtocolIKEv2()
        ikev2.serverAddress = server
        ikev2.useExtendedAuthentication = true
        configuration.protocolConfiguration = .ikev2(ikev2)
        return configuration
    }
}

extension KeychainQuery {
    /// What adds a password.
    static func password(
        _ secret: String = "s3cret", account: String = "me", accessible: String = "ck"
    ) -> KeychainQuery {
        [
            .itemClass: "genp", .service: "vpn", .account: .string(account), .accessible: .string(accessible),
            .valueData: .data(Array(secret.utf8)),
        ]
    }

    /// What finds an item by its reference.
    static func item(_ reference: KeychainReference) -> KeychainQuery {
        [.valuePersistentReference: .data(reference.bytes)]
    }
}

extension SecretBytes {
    /// The secret as text.
    var text: String { String(decoding: unprotectedCopy(), as: UTF8.self) }
}
