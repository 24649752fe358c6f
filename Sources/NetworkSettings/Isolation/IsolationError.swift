public import ProviderKit

/// The codes of ``IsolationError``.
public enum IsolationErrorCode: Int, TunnelErrorCode, CaseIterable {
    case nameTaken = 1
    case notPermitted = 2
    case failed = 3

    public static var domain: String { "ProviderHostIsolationErrorDomain" }

    public var cause: String {
        switch self {
        case .nameTaken: "There is a network namespace of this name."
        case .notPermitted: "A network namespace cannot be made without the capability CAP_SYS_ADMIN."
        case .failed: "The network namespace could not be made."
        }
    }

    public var remedy: String {
        switch self {
        case .nameTaken: "Choose another name for the interface, or delete that one with `ip netns delete`."
        case .notPermitted: "Run as root; in a service, allow CAP_SYS_ADMIN and the namespace type net."
        case .failed: "See whether `ip netns add` works, and whether /etc can be written."
        }
    }
}

/// Why there is no network namespace for a tunnel.
public typealias IsolationError = CodedError<IsolationErrorCode>

extension IsolationError {
    /// The error for a call on a file that failed.
    init(_ failure: FileFailure) {
        switch failure.code {
        case 1: self.init(.notPermitted)
        case 17: self.init(.nameTaken, cause: "There is a network namespace \(failure.path) already.")
        default: self.init(.failed, cause: "The network namespace could not be made: \(failure).")
        }
    }
}
