internal import SettingsPush

/// `settings show`: what is in force, and where each part comes from.
enum SettingsShowVerb {
    static let command = Command.ofSettings(
        name: "settings show", summary: "Show the settings in force, and where each of them comes from.",
        discussion: """
            Asks running tunnels: those of this machine by their control sockets, which are root's, and those
            of the caller's profiles by way of the daemon. `!` tells what this machine cannot give its effect,
            why, and what to do about it.
            """,
        text: { text($0) }, object: { ShownSettings($0) })

    /// The settings of one tunnel for people.
    static func text(_ tunnel: TunnelSettings) -> String {
        let report = tunnel.report
        var lines = [
            "\(tunnel.name): settings \(report.source.rawValue)\(report.gateway.map { ", gateway \($0)" } ?? "")"
        ]
        let width = report.values.map(\.text.count).max() ?? 0
        lines += report.values.map { value in
            let title = value.kind.title.padded(to: 15)
            return "  \(title)\(value.text.padded(to: width + 2))\(report.origin(of: value))"
        }
        if report.values.isEmpty { lines.append("  Nothing is in force.") }
        lines += report.shortfalls.map { "  ! \($0)" }
        if report.leftOut > 0 { lines.append("  \(report.leftOut) more are not told.") }
        return lines.joined(separator: "\n")
    }
}

extension Command.Option {
    /// Which tunnel is asked.
    static let tunnel = Command.Option(
        name: "tunnel", value: "NAME", summary: "The tunnel, by its profile or interface; all that run else.")
}

extension SettingsReport {
    /// Where a part of the settings comes from, for people.
    func origin(of value: Value) -> String {
        let pushed = "gateway \(gateway ?? "unknown")\(serial.map { ", serial \($0)" } ?? "")"
        switch value.origin {
        case .profile: return file ?? "the profile"
        case .push: return pushed
        case .policy: return "policy of \(file ?? "the profile") for \(pushed)"
        }
    }
}

extension String {
    /// The text with spaces behind it up to a width.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: Swift.max(0, width - count)) }
}
