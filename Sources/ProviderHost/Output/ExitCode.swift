internal import Control
internal import GatewayRegistry
internal import HostRuntime
internal import ProviderKit

/// What the program tells its caller by its exit status: the set of `nmcli`.
enum ExitCode: Int32, CaseIterable, Sendable {
    case success = 0
    case unknown = 1
    case usage = 2
    case timeout = 3
    case startFailed = 4
    case stopFailed = 5
    case noDaemon = 8
    case versionMismatch = 9
    case notFound = 10

    /// The code for an error, by its domain and code.
    init(for failure: TunnelFailure) {
        switch failure.errorDomain {
        case UsageErrorCode.domain: self = .usage
        case ConfigurationFileErrorCode.domain:
            self = ConfigurationFileErrorCode(rawValue: failure.errorCode) == .notFound ? .notFound : .startFailed
        case BundleErrorCode.domain:
            switch BundleErrorCode(rawValue: failure.errorCode) {
            case .unknownIdentifier: self = .notFound
            case .contractVersionMismatch: self = .versionMismatch
            default: self = .startFailed
            }
        case NewProviderErrorCode.domain:
            switch NewProviderErrorCode(rawValue: failure.errorCode) {
            case .providerKitMissing: self = .notFound
            case .writeFailed, nil: self = .unknown
            case .identifierInvalid, .folderNotEmpty: self = .usage
            }
        case RegistryErrorCode.domain: self = Self.code(of: RegistryErrorCode(rawValue: failure.errorCode))
        case QRCodeErrorCode.domain: self = .notFound
        case TunnelsErrorCode.domain:
            self = TunnelsErrorCode(rawValue: failure.errorCode) == .noSuchTunnel ? .notFound : .unknown
        case VPNConnectionErrorCode.domain: self = .startFailed
        case ControlErrorCode.domain:
            switch ControlErrorCode(rawValue: failure.errorCode) {
            case .noManager: self = .noDaemon
            case .versionMismatch: self = .versionMismatch
            case .timeout: self = .timeout
            default: self = .unknown
            }
        case ProfileErrorCode.domain:
            switch ProfileErrorCode(rawValue: failure.errorCode) {
            case .notFound: self = .notFound
            case .timeout: self = .timeout
            default: self = .usage
            }
        default: self = .unknown
        }
    }

    private static func code(of error: RegistryErrorCode?) -> ExitCode {
        switch error {
        case .notInitialized, .unknownPeer, .unknownPool, .unknownRoute, .clientKeyUnknown: .notFound
        case .alreadyInitialized, .unusableFile, .poolExhausted, .poolInUse, nil: .unknown
        default: .usage
        }
    }

    /// What the code means, for the help.
    var summary: String {
        switch self {
        case .success: "done"
        case .unknown: "the tunnel failed after it was up, or an error without a code of its own"
        case .usage: "wrong arguments"
        case .timeout: "a deadline passed"
        case .startFailed: "the tunnel could not be started"
        case .stopFailed: "the tunnel could not be stopped cleanly"
        case .noDaemon: "no daemon runs"
        case .versionMismatch: "bundle and host are of different versions"
        case .notFound: "there is no such bundle, file, profile, peer or route"
        }
    }
}
