public import ProviderKit

/// Bytes on the control socket that are no Varlink.
public enum WireError: TunnelError, Equatable {
    /// A frame does not end within the limit.
    case frameTooLong(limit: Int)
    /// A frame is no JSON object of the expected form.
    case malformed(String)

    public var errorDomain: String { "ProviderHostWireErrorDomain" }

    public var errorCode: Int {
        switch self {
        case .frameTooLong: 1
        case .malformed: 2
        }
    }

    public var cause: String {
        switch self {
        case .frameTooLong(let limit): "A message on the control socket is longer than \(limit) bytes."
        case .malformed(let reason): "A message on the control socket is malformed: \(reason)."
        }
    }

    public var remedy: String {
        switch self {
        case .frameTooLong: "Send less at once."
        case .malformed: "Send Varlink: a JSON object per message, ended by a zero byte."
        }
    }
}
