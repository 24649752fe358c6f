public import ProviderKit

/// The codes of ``SessionError``: what a host decides about a session and Network Extension has no code for.
public enum SessionErrorCode: Int, TunnelErrorCode, CaseIterable {
    case alreadyActive = 1
    case loadTimedOut = 2
    case startTimedOut = 3
    case stopTimedOut = 4
    case reassertingTimedOut = 5
    case interfaceLost = 6
    case notRunning = 7
    case messageTooLarge = 8
    case tooManyRequests = 9

    public static var domain: String { "ProviderHostSessionErrorDomain" }

    public var cause: String { text.cause }
    public var remedy: String { text.remedy }

    private var text: (cause: String, remedy: String) {
        switch self {
        case .alreadyActive: ("The session is active.", "Stop it first.")
        case .loadTimedOut:
            ("The provider's module did not load in time.", "Look for an initialiser in it that blocks.")
        case .startTimedOut:
            ("The provider did not complete its start in time.", "Check the server's address and that it answers.")
        case .stopTimedOut:
            ("The provider did not complete its stop in time and was killed.", "Report it to the provider's author.")
        case .reassertingTimedOut:
            ("The provider did not re-establish the tunnel in time.", "Check the network, and start the tunnel again.")
        case .interfaceLost: ("The interface was deleted from outside.", "Find out who deletes it, and start again.")
        case .notRunning: ("The session does not run.", "Start it first.")
        case .messageTooLarge: ("The message is larger than 1 MiB.", "Send it in parts.")
        case .tooManyRequests: ("Too many requests are waiting.", "Wait for the answers.")
        }
    }
}

/// An error of a session that the host itself decided.
public typealias SessionError = CodedError<SessionErrorCode>

/// What began the end of a session; the first cause counts.
public enum SessionEnding: Sendable, Equatable {
    /// Somebody asked for it.
    case requested(ProviderStopReason)
    /// The provider cancelled, with an error or because it was done.
    case cancelled(withError: Bool)
    /// The start failed before the tunnel was up.
    case startFailed
    /// The load or start deadline passed before the tunnel was up.
    case startTimedOut
    /// The tunnel was up and could not be kept up.
    case failed
}
