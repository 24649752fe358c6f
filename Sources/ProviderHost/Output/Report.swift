internal import ProviderKit

/// One line of `run --json`, and of every error in JSON: the keys are always there, null where they have no value.
struct Report: Encodable, Sendable {
    /// The version of the keys; it grows when one changes its meaning or goes away.
    static let schema = 1

    /// `status` for a change of state, `error` for a refusal before there is a session.
    var event: String
    /// The status of the session.
    var status: VPNStatus?
    /// The name of the virtual interface.
    var interface: String?
    /// What went wrong.
    var error: TunnelFailure?

    private enum Key: String, CodingKey { case schema, event, status, interface, error }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(Self.schema, forKey: .schema)
        try container.encode(event, forKey: .event)
        try container.encode(status?.description, forKey: .status)
        try container.encode(interface, forKey: .interface)
        try container.encode(error.map(ErrorReport.init), forKey: .error)
    }
}

/// An error in JSON.
struct ErrorReport: Encodable, Sendable {
    let domain: String
    let code: Int
    let cause: String
    let remedy: String

    init(_ error: some TunnelError) {
        domain = error.errorDomain
        code = error.errorCode
        cause = error.cause
        remedy = error.remedy
    }
}

/// One line of the log in JSON.
struct LogReport: Encodable, Sendable {
    let schema = Report.schema
    let event = "log"
    let level: String
    let message: String

    private enum CodingKeys: String, CodingKey { case schema, event, level, message }
}
