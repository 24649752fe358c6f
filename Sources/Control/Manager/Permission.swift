/// What a caller may do, from least to most.
public enum Permission: Int, Sendable, Comparable, CaseIterable, CustomStringConvertible {
    /// Ask what the service is.
    case none = 0
    /// See configurations and their sessions, without what is secret.
    case read = 1
    /// Start, stop and message them.
    case operate = 2
    /// Change them, and the keychain.
    case administer = 3

    public static func < (lower: Permission, upper: Permission) -> Bool { lower.rawValue < upper.rawValue }

    /// The word that messages use.
    public var description: String {
        switch self {
        case .none: "none"
        case .read: "read"
        case .operate: "operate"
        case .administer: "administer"
        }
    }
}
