public import ProviderKit

/// An error on the wire: the parameters of `Refused`, and the type `Failure`.
public struct FailureMessage: Codable, Sendable, Equatable {
    /// The name of the error in a reply.
    public static let errorName = ManagerMethod.interface + ".Refused"

    public var domain: String
    public var code: Int
    public var cause: String
    public var remedy: String

    /// Takes an error apart.
    public init(_ error: some TunnelError) {
        domain = error.errorDomain
        code = error.errorCode
        cause = error.cause
        remedy = error.remedy
    }

    /// The error again.
    public var failure: TunnelFailure {
        TunnelFailure(errorDomain: domain, errorCode: code, cause: cause, remedy: remedy)
    }
}
