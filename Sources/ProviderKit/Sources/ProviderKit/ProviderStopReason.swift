/// Why a provider is stopped, with Network Extension's raw values.
public enum ProviderStopReason: Int, Sendable, Codable, CaseIterable {
    /// No specific reason.
    case none = 0
    /// The user stopped it.
    case userInitiated = 1
    /// The provider failed.
    case providerFailed = 2
    /// There is no network.
    case noNetworkAvailable = 3
    /// The machine moved to another network.
    case unrecoverableNetworkChange = 4
    /// The provider was disabled.
    case providerDisabled = 5
    /// Authentication was cancelled.
    case authenticationCanceled = 6
    /// The configuration is invalid.
    case configurationFailed = 7
    /// The session was idle for too long.
    case idleTimeout = 8
    /// The configuration was disabled.
    case configurationDisabled = 9
    /// The configuration was removed.
    case configurationRemoved = 10
    /// A configuration of higher priority was started (Network Extension's spelling).
    case superceded = 11
    /// The user logged out.
    case userLogout = 12
    /// The console user changed.
    case userSwitch = 13
    /// The connection could not be established.
    case connectionFailed = 14
    /// The machine sleeps and the configuration disconnects on sleep.
    case sleep = 15
    /// The provider is being updated.
    case appUpdate = 16
    /// An error inside the host.
    case internalError = 17
}
