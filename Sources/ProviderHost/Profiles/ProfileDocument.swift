internal import Control
internal import Foundation
internal import HostRuntime
internal import ProviderKit

/// A whole profile in JSON.
struct ProfileDocument: Codable, Sendable {
    /// The most bytes of a file.
    private static let limit = 16 << 20

    var schema = Report.schema
    var identifier: String
    var generation: UInt64?
    var name: String?
    var isEnabled: Bool
    var isOnDemandEnabled: Bool
    var onDemandRules: [OnDemandRule]?
    var protocolConfiguration: TunnelProviderProtocol?

    /// The profile of a manager.
    init(_ manager: TunnelProviderManager) {
        identifier = manager.identifier
        generation = manager.generation
        name = manager.localizedDescription
        isEnabled = manager.isEnabled
        isOnDemandEnabled = manager.isOnDemandEnabled
        onDemandRules = manager.onDemandRules
        protocolConfiguration = manager.protocolConfiguration
    }

    /// Reads a file.
    ///
    /// - Throws: ``ProfileError``, `notReadable`, that says where the file is wrong.
    init(path: String) throws { self = try Self.decode(Self.self, from: path, "profile") }

    /// Reads a file with on-demand rules alone.
    ///
    /// - Throws: ``ProfileError``, `notReadable`, that says where the file is wrong.
    static func rules(path: String) throws -> [OnDemandRule] {
        try decode([OnDemandRule].self, from: path, "list of on-demand rules")
    }

    private static func decode<Value: Decodable>(_ type: Value.Type, from path: String, _ what: String) throws -> Value
    {
        guard let data = FileManager.default.contents(atPath: path), data.count <= limit else {
            throw ProfileError(.notReadable, cause: "The file \(path.printable) cannot be read.")
        }
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            throw ProfileError(
                .notReadable, cause: "The file \(path.printable) is no \(what): \("\(error)".printable)",
                remedy: "Begin with what `profile show NAME --json` prints.")
        }
    }

    /// Gives a manager everything but the identifier.
    func apply(to manager: TunnelProviderManager) {
        manager.localizedDescription = name
        manager.isEnabled = isEnabled
        manager.isOnDemandEnabled = isOnDemandEnabled
        manager.onDemandRules = onDemandRules
        manager.protocolConfiguration = protocolConfiguration
    }
}
