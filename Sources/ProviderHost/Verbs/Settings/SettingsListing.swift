internal import SettingsPush

/// The object of `settings … --json`.
struct SettingsListing<Tunnel: Encodable>: Encodable {
    let schema = Report.schema
    let tunnels: [Tunnel]

    private enum CodingKeys: String, CodingKey { case schema, tunnels }
}

/// The settings of a tunnel in `settings show --json`.
struct ShownSettings: Encodable {
    struct Value: Encodable {
        let kind: String
        let value: String
        let origin: String
    }

    let name: String
    let source: String
    let file: Nullable<String>
    let gateway: Nullable<String>
    let serial: Nullable<UInt64>
    let values: [Value]
    let leftOut: Int

    init(_ tunnel: TunnelSettings) {
        let report = tunnel.report
        name = tunnel.name
        source = report.source.rawValue
        file = Nullable(report.file)
        gateway = Nullable(report.gateway)
        serial = Nullable(report.serial)
        values = report.values.map { Value(kind: $0.kind.rawValue, value: $0.text, origin: $0.origin.rawValue) }
        leftOut = report.leftOut
    }
}

/// Why an item is, or is not, in force, in `settings diff --json` and `settings why --json`.
struct ExplanationReport: Encodable {
    let item: String
    /// `accepted`, `changed`, `refused`, or `notOffered`.
    let effect: String
    let offeredBy: Nullable<String>
    let code: Nullable<UInt16>
    let reason: Nullable<String>
    let detail: Nullable<String>
    let remedy: Nullable<String>
    /// The name of the profile's line that decided.
    let key: Nullable<String>
    /// Its number, where the profile has it.
    let line: Nullable<Int>
    /// The explanation in sentences.
    let text: String

    init(_ explanation: Explanation) {
        item = explanation.subject
        effect = explanation.reason.map { "\($0.effect)" } ?? "notOffered"
        offeredBy = Nullable(explanation.offeredBy)
        code = Nullable(explanation.reason?.rawValue)
        reason = Nullable(explanation.reason?.name)
        detail = Nullable(explanation.detail)
        remedy = Nullable(explanation.remedy)
        key = Nullable(explanation.place?.key)
        line = Nullable(explanation.place?.line)
        text = explanation.description
    }
}
