/// The settings that are to be in force as a whole.
public enum DesiredSettings: Sendable, Hashable {
    /// Nothing but the profile's own addresses.
    case bare
    /// What the profile itself says.
    case profile
    /// What the gateway said and the filter let through.
    case pushed(SnapshotVersion, FilterOutcome)

    /// The snapshot that they come from.
    public var version: SnapshotVersion? {
        switch self {
        case .bare, .profile: nil
        case .pushed(let version, _): version
        }
    }
}
