import ProviderKit
import SettingsPush
import WireGuard

/// What a person is told of the settings.
extension PushProfile {
    /// The report of a tunnel whose settings a gateway decides.
    ///
    /// - Parameters:
    ///   - account: What the client knows.
    ///   - shortfalls: What the host cannot give its effect of what is in force.
    /// - Returns: All of it.
    func report(_ account: PushClient.Account, shortfalls: [SettingsShortfall]) -> SettingsReport {
        var report = SettingsReport(source: policy.source)
        report.file = file
        report.lines = lines
        report.gateway = label
        report.serial = account.applied.version?.serial
        var snapshot: Snapshot?
        if case .pushed(_, let outcome) = account.applied { snapshot = outcome.snapshot }
        report.values = SettingsReport.values(
            of: networkSettings(for: account.applied),
            base: account.applied == .profile ? nil : networkSettings(for: .bare), snapshot: snapshot)
        if case .pushed(let version, let outcome)? = account.lastOffer {
            report.offer = SettingsReport.Offer(serial: version.serial, decisions: outcome.decisions)
        }
        report.failure = account.failure.map {
            SettingsReport.Failure(serial: $0.version.serial, status: $0.status, findings: $0.findings)
        }
        report.shortfalls = shortfalls
        if let failure = account.failure, let refusal = account.refusal {
            report.shortfalls.append(
                SettingsShortfall(
                    part: "serial \(failure.version.serial)", cause: refusal.cause, remedy: refusal.remedy))
        }
        return report
    }

    /// The number of the first line of a peer's section that sets `key`, from 1.
    static func line(_ key: String, ofPeer peer: PublicKey, in text: String) -> Int? {
        var found: Int?
        var isPeer = false
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = line.filter { $0 != " " && $0 != "\t" }
            if words.hasPrefix("[") {
                if isPeer, found != nil { return found }
                (found, isPeer) = (nil, false)
            }
            let parts = words.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { continue }
            switch parts[0].lowercased() {
            case key.lowercased(): found = found ?? index + 1
            case "publickey": isPeer = parts[1].prefix { $0 != "#" } == peer.base64
            default: break
            }
        }
        return isPeer ? found : nil
    }
}

extension SettingsReport {
    /// The report of a tunnel whose profile alone decides.
    init(_ configuration: Configuration, file: String?, shortfalls: [SettingsShortfall]) {
        self.init(source: .static)
        self.file = file
        self.shortfalls = shortfalls
        values = Self.values(
            of: TunnelSettings.make(from: configuration, remoteAddress: ""), base: nil, snapshot: nil)
    }
}
