internal import ProviderKit
internal import SettingsPush

extension Command {
    /// A verb that tells something of the settings of one tunnel or of all that run.
    ///
    /// - Parameters:
    ///   - name: The verb.
    ///   - summary: What it tells, in one sentence.
    ///   - discussion: What else is to be known of it.
    ///   - text: What it tells a person of a tunnel.
    ///   - object: What it tells a program.
    /// - Returns: The verb.
    static func ofSettings<Shown: Encodable & SendableMetatype>(
        name: String, summary: String, discussion: String, text: @escaping @Sendable (TunnelSettings) -> String,
        object: @escaping @Sendable (TunnelSettings) -> Shown
    ) -> Command {
        Command(name: name, summary: summary, options: [.tunnel, .json], discussion: discussion) {
            arguments, console in
            let tunnels = try TunnelSettings.all(named: arguments.values[Command.Option.tunnel.name])
            if arguments.wantsJSON {
                console.print(json: SettingsListing(tunnels: tunnels.map(object)))
            } else {
                console.print(tunnels.map(text).joined(separator: "\n\n"))
            }
            return .success
        }
    }
}

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
    /// What the machine cannot give its effect.
    let shortfalls: [SettingsShortfall]
    let leftOut: Int

    init(_ tunnel: TunnelSettings) {
        let report = tunnel.report
        name = tunnel.name
        source = report.source.rawValue
        file = Nullable(report.file)
        gateway = Nullable(report.gateway)
        serial = Nullable(report.serial)
        values = report.values.map { Value(kind: $0.kind.rawValue, value: $0.text, origin: $0.origin.rawValue) }
        shortfalls = report.shortfalls
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
