public import ProviderKit

/// The codes of ``ControlError``.
public enum ControlErrorCode: Int, TunnelErrorCode, CaseIterable {
    case noManager = 1
    case noAccess = 2
    case connectionLost = 3
    case timeout = 4
    case versionMismatch = 5
    case pathInvalid = 6
    case notPermitted = 7
    case hostInvalid = 8

    public static var domain: String { "ProviderHostControlErrorDomain" }

    public var cause: String {
        switch self {
        case .noManager: "No manager runs."
        case .noAccess: "You may not connect to the manager."
        case .connectionLost: "The connection to the manager was lost."
        case .timeout: "The manager did not answer in time."
        case .versionMismatch: "The manager is of another version."
        case .pathInvalid: "The path of the control socket is too long."
        case .notPermitted: "You may not do that."
        case .hostInvalid: "That is no name of a host."
        }
    }

    public var remedy: String {
        switch self {
        case .noManager: "Start it: `systemctl start providerhost`, or `providerhost daemon` as root."
        case .noAccess: "Check the permissions of the folder of the socket."
        case .connectionLost: "Try again; see the manager's log if it happens again."
        case .timeout: "See the manager's log."
        case .versionMismatch: "Restart the manager, so that it is of the version that is installed."
        case .pathInvalid: "Set PROVIDERHOST_RUNTIME_DIR to a shorter path."
        case .notPermitted: "Ask the administrator of the machine."
        case .hostInvalid: "Give a name such as www.example.com."
        }
    }
}

/// Why the manager could not be asked, or refused to answer this caller.
public typealias ControlError = CodedError<ControlErrorCode>
