public import ProviderKit
internal import Session

/// What a session tells its owner.
public enum SessionReport: Sendable, Equatable {
    /// The status changed; the error is the reason of a disconnect, nil when there is none.
    case status(VPNStatus, interface: String, error: TunnelFailure?)
    /// A line for the log.
    case log(LogLevel, String)
}

extension TunnelFailure {
    /// Whether the error says that a session did not stop as it should, whatever else was wrong.
    public var saysStopFailed: Bool {
        let faults = [
            (SessionErrorCode.domain, SessionErrorCode.stopTimedOut.rawValue),
            (InterfaceErrorCode.domain, InterfaceErrorCode.notRemoved.rawValue),
        ]
        return faults.contains { $0 == (errorDomain, errorCode) }
    }
}

/// How a session ended.
public enum SessionOutcome: Sendable, Equatable, CaseIterable {
    /// It was asked to, or its provider ended it without an error.
    case stopped
    /// It ended by itself with an error after it was up, or the provider cancelled with an error.
    case failed
    /// The load or start deadline passed.
    case startTimedOut
    /// It could not be started.
    case startFailed
    /// The stop deadline passed, or something could not be removed.
    case stopFailed

    /// The exit status of a program that ran this session.
    public var exitStatus: Int32 {
        switch self {
        case .stopped: 0
        case .failed: 1
        case .startTimedOut: 3
        case .startFailed: 4
        case .stopFailed: 5
        }
    }

    /// The outcome of the session that has just ended.
    init(_ machine: SessionMachine) {
        let stopFailed = machine.stopTimedOut || machine.tearDownFailed
        switch machine.ending {
        case .startFailed: self = .startFailed
        case .startTimedOut: self = .startTimedOut
        case .failed, .cancelled(withError: true): self = .failed
        case .requested, .cancelled(withError: false), nil: self = stopFailed ? .stopFailed : .stopped
        }
    }
}
