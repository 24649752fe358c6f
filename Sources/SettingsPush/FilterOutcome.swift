/// What the filter made of one snapshot.
public struct FilterOutcome: Sendable, Hashable {
    /// What was offered.
    public let snapshot: Snapshot
    /// What is left of it.
    public internal(set) var settings = EffectiveSettings()
    /// Every decision, in the order of the rules; an item may have several.
    public internal(set) var decisions: [Decision] = []
    /// Whether nothing is left that a tunnel could be made of.
    public internal(set) var isRejected = false

    /// Begins with nothing decided.
    init(snapshot: Snapshot) { self.snapshot = snapshot }

    /// How a RESULT calls the outcome once it is in force.
    public var status: SettingsResult.Status {
        isRejected ? .rejected : decisions.contains { $0.reason.effect == .refused } ? .filtered : .applied
    }

    /// What a RESULT carries: refusals first, then what was changed or noted.
    public var findings: [SettingsFinding] {
        let refused = decisions.filter { $0.reason.effect == .refused }
        let changed = decisions.filter { $0.reason.effect == .changed }
        return Array((refused + changed).map(\.finding).prefix(SnapshotLimits.findingCount))
    }

    /// Keeps that a section was passed over because it is not known.
    mutating func noteIgnored(_ finding: SettingsFinding) {
        decisions.append(Decision(finding: finding, subject: .section(finding.section), detail: nil))
    }

    mutating func decide(
        _ section: SectionType, _ index: Int, _ subject: Decision.Subject, _ reason: ReasonCode, _ detail: String? = nil
    ) {
        let finding = SettingsFinding(section: section.rawValue, index: UInt16(clamping: index), reason: reason)
        decisions.append(Decision(finding: finding, subject: subject, detail: detail))
    }
}
