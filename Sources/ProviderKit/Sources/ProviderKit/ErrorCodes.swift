/// The codes of ``VPNError``.
public enum VPNErrorCode: Int, TunnelErrorCode, CaseIterable {
    case configurationInvalid = 1
    case configurationDisabled = 2
    case connectionFailed = 3
    case configurationStale = 4
    case configurationReadWriteFailed = 5
    case configurationUnknown = 6

    public static var domain: String { "NEVPNErrorDomain" }

    public var cause: String {
        switch self {
        case .configurationInvalid: "The configuration is invalid, or was not saved and loaded."
        case .configurationDisabled: "The configuration is disabled."
        case .connectionFailed: "The connection to the server failed."
        case .configurationStale: "The configuration was changed by somebody else since it was loaded."
        case .configurationReadWriteFailed: "The configuration could not be read or written."
        case .configurationUnknown: "An unknown error of the configuration."
        }
    }

    public var remedy: String {
        switch self {
        case .configurationInvalid: "Complete it, save it, and load it again."
        case .configurationDisabled: "Enable it and save it."
        case .connectionFailed: "Check the server's address and that it can be reached."
        case .configurationStale: "Load it, apply the change again, and save."
        case .configurationReadWriteFailed: "Check the permissions of the store."
        case .configurationUnknown: "See the log."
        }
    }
}

/// The codes of ``TunnelProviderError``.
public enum TunnelProviderErrorCode: Int, TunnelErrorCode, CaseIterable {
    case networkSettingsInvalid = 1
    case networkSettingsCanceled = 2
    case networkSettingsFailed = 3

    public static var domain: String { "NETunnelProviderErrorDomain" }

    public var cause: String {
        switch self {
        case .networkSettingsInvalid: "The network settings are invalid."
        case .networkSettingsCanceled: "The request for network settings was cancelled because the tunnel stops."
        case .networkSettingsFailed: "The network settings could not be applied; the earlier ones are still in force."
        }
    }

    public var remedy: String {
        switch self {
        case .networkSettingsInvalid: "Correct the value that is named."
        case .networkSettingsCanceled: "Start the tunnel again."
        case .networkSettingsFailed: "See the cause that the system gave."
        }
    }
}

/// The codes of ``VPNConnectionError``.
public enum VPNConnectionErrorCode: Int, TunnelErrorCode, CaseIterable {
    case overslept = 1
    case noNetworkAvailable = 2
    case unrecoverableNetworkChange = 3
    case configurationFailed = 4
    case serverAddressResolutionFailed = 5
    case serverNotResponding = 6
    case serverDead = 7
    case authenticationFailed = 8
    case clientCertificateInvalid = 9
    case clientCertificateNotYetValid = 10
    case clientCertificateExpired = 11
    case pluginFailed = 12
    case configurationNotFound = 13
    case pluginDisabled = 14
    case negotiationFailed = 15
    case serverDisconnected = 16
    case serverCertificateInvalid = 17
    case serverCertificateNotYetValid = 18
    case serverCertificateExpired = 19

    public static var domain: String { "NEVPNConnectionErrorDomain" }

    public var cause: String { text.cause }
    public var remedy: String { text.remedy }

    private var text: (cause: String, remedy: String) {
        switch self {
        case .overslept: ("The machine slept for too long.", "Start the tunnel again.")
        case .noNetworkAvailable: ("There is no network.", "Connect the machine to a network.")
        case .unrecoverableNetworkChange: ("The network changed beyond repair.", "Start the tunnel again.")
        case .configurationFailed: ("The configuration is invalid.", "Correct the value that is named.")
        case .serverAddressResolutionFailed: ("The server's name did not resolve.", "Check the name and the resolver.")
        case .serverNotResponding: ("The server did not answer.", "Check its address, port, keys and firewall.")
        case .serverDead: ("The server is no longer functioning.", "Ask its operator.")
        case .authenticationFailed: ("The server rejected the credentials.", "Check the credentials.")
        case .clientCertificateInvalid: ("The client certificate is invalid.", "Replace it.")
        case .clientCertificateNotYetValid: ("The client certificate is not valid yet.", "Check the clock.")
        case .clientCertificateExpired: ("The client certificate has expired.", "Renew it.")
        case .pluginFailed: ("The provider's process died.", "See its last lines in the log.")
        case .configurationNotFound: ("There is no such configuration.", "Save it first.")
        case .pluginDisabled: ("The provider was not found or must be updated.", "Install the bundle, or rebuild it.")
        case .negotiationFailed: ("The protocol negotiation failed.", "Compare both ends' versions and settings.")
        case .serverDisconnected: ("The server ended the connection.", "Start the tunnel again.")
        case .serverCertificateInvalid: ("The server's certificate is invalid.", "Check the trust anchors.")
        case .serverCertificateNotYetValid: ("The server's certificate is not valid yet.", "Check the clock.")
        case .serverCertificateExpired: ("The server's certificate has expired.", "Ask its operator.")
        }
    }
}
