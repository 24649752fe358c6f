internal import Control
internal import Foundation
internal import HostRuntime
internal import ProviderKit

/// The state of one profile, as `status --json` prints it: the keys are always there, null where they have no value.
struct StatusReport: Encodable, Sendable {
    let name: String?
    let identifier: String
    let status: VPNStatus
    let interface: String?
    let connectedSince: Date?
    let error: TunnelFailure?
    /// Given with `--why` only.
    let onDemand: OnDemandState?

    init(_ manager: TunnelProviderManager, error: TunnelFailure?, onDemand: OnDemandState?) {
        name = manager.localizedDescription
        identifier = manager.identifier
        status = manager.connection.status
        interface = manager.connection.interfaceName
        connectedSince = manager.connection.connectedDate
        self.error = error
        self.onDemand = onDemand
    }

    private enum Key: String, CodingKey {
        case schema, event, name, identifier, status, interface, connectedSince, error, onDemand
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(Report.schema, forKey: .schema)
        try container.encode("status", forKey: .event)
        try container.encode(name, forKey: .name)
        try container.encode(identifier, forKey: .identifier)
        try container.encode(status.description, forKey: .status)
        try container.encode(interface, forKey: .interface)
        try container.encode(connectedSince?.timeIntervalSince1970, forKey: .connectedSince)
        try container.encode(error.map(ErrorReport.init), forKey: .error)
        try container.encode(onDemand, forKey: .onDemand)
    }

    /// The line for people.
    var line: String {
        let since = connectedSince.map { "since \($0.formatted(.iso8601))" }
        return [name ?? identifier, status.description, interface, since, error.map { "(\($0.cause))" }]
            .compactMap { $0?.printable }.joined(separator: " ")
    }
}

/// A profile, as `profile list --json` prints it.
struct ProfileReport: Encodable, Sendable {
    let schema = Report.schema
    let name: String?
    let identifier: String
    let application: String
    let owner: UInt32
    let isEnabled: Bool
    let isOnDemandEnabled: Bool
    let provider: String?
    let serverAddress: String?
    let status: String

    init(_ manager: TunnelProviderManager) {
        name = manager.localizedDescription
        identifier = manager.identifier
        application = manager.application
        owner = manager.owner
        isEnabled = manager.isEnabled
        isOnDemandEnabled = manager.isOnDemandEnabled
        provider = manager.protocolConfiguration?.providerBundleIdentifier
        serverAddress = manager.protocolConfiguration?.serverAddress
        status = manager.connection.status.description
    }

    private enum CodingKeys: String, CodingKey {
        case schema, name, identifier, application, owner, isEnabled, isOnDemandEnabled, provider, serverAddress, status
    }
}
