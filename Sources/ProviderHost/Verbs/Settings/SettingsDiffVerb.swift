internal import SettingsPush

/// `settings diff`: what a gateway offered against what is in force.
enum SettingsDiffVerb {
    static let command = Command.ofSettings(
        name: "settings diff", summary: "Compare what gateways offered with what is in force.",
        discussion: """
            A line for each item of the last offer: `=` in force as it was offered, `~` in force in another
            form, `-` refused; and `+` for what the profile itself has in force. `!` tells of an offer that
            did not come into force as a whole.
            """,
        text: { text($0) }, object: { SettingsDifference($0) })

    /// The difference for people.
    static func text(_ tunnel: TunnelSettings) -> String {
        let report = tunnel.report
        guard let gateway = report.gateway else {
            return "\(tunnel.name): the profile alone decides; there is no offer to compare with."
        }
        let inForce = report.serial.map { "serial \($0) is in force" } ?? "none is in force"
        let offered = report.offer.map { "offered serial \($0.serial)" } ?? "offered nothing so far"
        var lines = ["\(tunnel.name): gateway \(gateway) \(offered), \(inForce)"]
        if let failure = report.failure {
            let reasons = failure.findings.prefix(3).map { ": \($0.reason)" }.joined()
            lines.append("  ! Serial \(failure.serial) is not in force, it was \(failure.status)\(reasons)")
        }
        lines += SettingsExplainer(report).all.map { explanation in
            explanation.reason == .accepted
                ? "  = \(explanation.subject)" : "  \(sign(explanation)) \(explanation.description)"
        }
        lines += report.values.filter { $0.origin == .profile }.map { value in
            "  + \(value.kind.title) \(value.text), of \(report.origin(of: value))"
        }
        return lines.joined(separator: "\n")
    }

    private static func sign(_ explanation: Explanation) -> String {
        explanation.reason?.effect == .changed ? "~" : "-"
    }
}

/// A tunnel in `settings diff --json`.
struct SettingsDifference: Encodable {
    struct Failure: Encodable {
        let serial: UInt64
        let status: String
        let reasons: [String]
    }

    let name: String
    let gateway: Nullable<String>
    let offeredSerial: Nullable<UInt64>
    let serial: Nullable<UInt64>
    let failure: Nullable<Failure>
    let items: [ExplanationReport]
    /// What the profile itself has in force.
    let own: [ShownSettings.Value]

    init(_ tunnel: TunnelSettings) {
        let report = tunnel.report
        name = tunnel.name
        gateway = Nullable(report.gateway)
        offeredSerial = Nullable(report.offer?.serial)
        serial = Nullable(report.serial)
        failure = Nullable(
            report.failure.map { failure in
                Failure(
                    serial: failure.serial, status: "\(failure.status)",
                    reasons: failure.findings.map(\.reason.name))
            })
        items = SettingsExplainer(report).all.map(ExplanationReport.init)
        own = ShownSettings(tunnel).values.filter { $0.origin == SettingsReport.Origin.profile.rawValue }
    }
}
