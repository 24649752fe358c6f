/// Where a tunnel's settings come from.
public enum SettingsSource: String, Sendable, Hashable, CaseIterable {
    /// From the profile alone.
    case `static`
    /// From the gateway alone: without it the tunnel comes up with nothing but the profile's own addresses.
    case push
    /// From the gateway, or from the profile until the gateway answers.
    case pushPreferred
    /// From the gateway, or the tunnel does not start.
    case pushRequired
}
