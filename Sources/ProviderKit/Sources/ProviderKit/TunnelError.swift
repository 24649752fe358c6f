/// An error as every part of ProviderHost reports it: domain, code, one sentence of cause, one of what to do.
public protocol TunnelError: Error, Sendable, CustomStringConvertible {
    /// The namespace of ``errorCode``; Network Extension's domain where it has one.
    var errorDomain: String { get }
    /// The code within the domain.
    var errorCode: Int { get }
    /// What went wrong, in one sentence that names the value at fault.
    var cause: String { get }
    /// What to do about it, in one sentence.
    var remedy: String { get }
}

extension TunnelError {
    /// Cause and remedy in one line.
    public var description: String { remedy.isEmpty ? cause : "\(cause) \(remedy)" }
}

/// An error that crossed a process boundary or came from a provider: all that is left of it is text and numbers.
public struct TunnelFailure: TunnelError, Codable, Equatable {
    public let errorDomain: String
    public let errorCode: Int
    public let cause: String
    public let remedy: String

    /// Makes a failure from its parts.
    public init(errorDomain: String, errorCode: Int, cause: String, remedy: String) {
        self.errorDomain = errorDomain
        self.errorCode = errorCode
        self.cause = cause
        self.remedy = remedy
    }

    /// Keeps what can be kept of any error.
    public init(_ error: any Error) {
        if let error = error as? any TunnelError {
            self.init(
                errorDomain: error.errorDomain, errorCode: error.errorCode, cause: error.cause, remedy: error.remedy)
        } else {
            self.init(
                errorDomain: String(reflecting: type(of: error)), errorCode: 1, cause: "\(error)",
                remedy: "The provider's documentation tells what this error means.")
        }
    }
}

/// An error with one of a closed set of codes.
public struct CodedError<Code: TunnelErrorCode>: TunnelError, Equatable {
    public let code: Code
    public let cause: String
    public let remedy: String

    /// Makes an error of `code`; cause and remedy default to the code's own sentences.
    public init(_ code: Code, cause: String? = nil, remedy: String? = nil) {
        self.code = code
        self.cause = cause ?? code.cause
        self.remedy = remedy ?? code.remedy
    }

    public var errorDomain: String { Code.domain }
    public var errorCode: Int { code.rawValue }
}

/// The codes of one error domain, each with its general cause and remedy.
public protocol TunnelErrorCode: RawRepresentable<Int>, Sendable, Equatable {
    /// The name of the domain.
    static var domain: String { get }
    /// What the code says went wrong.
    var cause: String { get }
    /// What to do where nothing more specific is known.
    var remedy: String { get }
}

/// A fault of a request about a configuration (Network Extension's `NEVPNError`).
public typealias VPNError = CodedError<VPNErrorCode>
/// The reason why a session disconnected (Network Extension's `NEVPNConnectionError`).
public typealias VPNConnectionError = CodedError<VPNConnectionErrorCode>
/// A fault of a settings request (Network Extension's `NETunnelProviderError`).
public typealias TunnelProviderError = CodedError<TunnelProviderErrorCode>
