/// The status of a session, with Network Extension's raw values.
public enum VPNStatus: Int, Sendable, Codable, CustomStringConvertible {
    /// The configuration is not in the store, or not enabled.
    case invalid = 0
    case disconnected = 1
    case connecting = 2
    case connected = 3
    /// Re-establishing the connection; settings and routes stay.
    case reasserting = 4
    case disconnecting = 5

    /// The word that the command line and its JSON use.
    public var description: String {
        switch self {
        case .invalid: "invalid"
        case .disconnected: "disconnected"
        case .connecting: "connecting"
        case .connected: "connected"
        case .reasserting: "reasserting"
        case .disconnecting: "disconnecting"
        }
    }
}
