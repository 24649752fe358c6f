/// What became of a snapshot at the client.
public struct SettingsResult: Sendable, Hashable {
    /// How it ended.
    public enum Status: UInt8, Sendable, Hashable, CaseIterable {
        /// All of it is in force.
        case applied = 0
        /// In force but for the items that are listed.
        case filtered = 1
        /// Refused; the earlier settings are in force.
        case rejected = 2
        /// The host could not apply it; the earlier settings are in force.
        case failed = 3
        /// Taken back because the gateway was out of reach with it; the earlier settings are in force.
        case reverted = 4
    }

    /// The snapshot.
    public var version: SnapshotVersion
    /// How it ended.
    public var status: Status
    /// The items that were refused, changed or noted, at most 32.
    public var findings: [SettingsFinding]

    /// Makes a result; findings beyond the thirty-second are left out.
    public init(version: SnapshotVersion, status: Status, findings: [SettingsFinding]) {
        self.version = version
        self.status = status
        self.findings = Array(findings.prefix(SnapshotLimits.findingCount))
    }
}
