/// A parser of bytes from outside, as libFuzzer drives it and as the replay test runs its stored corpus.
///
/// The raw value names the folder in Tests/Fuzz/Corpus. A new target is a case here, its body, and a folder with a seed.
enum FuzzTarget: String, CaseIterable, Sendable {
    case initiation = "wireguard-initiation"
    case response = "wireguard-response"
    case cookieReply = "wireguard-cookie-reply"
    case transportData = "wireguard-data"
    case wgQuick = "wg-quick"
    case controlProtocol = "control-protocol"
    case bundleManifest = "bundle-manifest"
    case workerChannel = "worker-channel"
    case managerCall = "manager-call"
    case pushSnapshot = "settings-push-snapshot"
    case pushMessage = "settings-push-message"
    case pushClient = "settings-push-client"
    case dnsAnswer = "dns-answer"

    /// Runs the parser, and traps if it breaks a promise.
    ///
    /// - Returns: Whether the bytes were accepted.
    @discardableResult
    func run(_ bytes: [UInt8]) -> Bool {
        switch self {
        case .initiation: Self.runInitiation(bytes)
        case .response: Self.runResponse(bytes)
        case .cookieReply: Self.runCookieReply(bytes)
        case .transportData: Self.runTransportData(bytes)
        case .wgQuick: Self.runWgQuick(bytes)
        case .controlProtocol: Self.runControlProtocol(bytes)
        case .bundleManifest: Self.runBundleManifest(bytes)
        case .workerChannel: Self.runWorkerChannel(bytes)
        case .managerCall: Self.runManagerCall(bytes)
        case .pushSnapshot: Self.runPushSnapshot(bytes)
        case .pushMessage: Self.runPushMessage(bytes)
        case .pushClient: Self.runPushClient(bytes)
        case .dnsAnswer: Self.runDNSAnswer(bytes)
        }
    }
}
