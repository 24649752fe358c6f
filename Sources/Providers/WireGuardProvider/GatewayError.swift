import ProviderKit
import SettingsPush

/// Why a tunnel whose settings come from a gateway did not start, or ended.
enum GatewayError: TunnelError {
    /// A line of the profile's policy cannot be used.
    case policy(PolicyLineError)
    /// The profile names no peer that could push settings.
    case noGateway
    /// The start failed.
    case start(StartFailure, gateway: String)
    /// The gateway ordered this client to stop.
    case dismissed(gateway: String)

    var errorDomain: String { "WireGuardGatewayErrorDomain" }

    var errorCode: Int {
        switch self {
        case .policy: 1
        case .noGateway: 2
        case .dismissed: 3
        case .start(.noAnswer, _): 4
        case .start(.refused, _): 5
        case .start(.poolExhausted, _): 6
        case .start(.rejected, _): 7
        case .start(.applyFailed, _): 8
        }
    }

    var cause: String {
        switch self {
        case .policy(let error): error.cause
        case .noGateway: "The settings are to come from a gateway, and no peer of the configuration has an endpoint."
        case .dismissed(let gateway): "The gateway at \(gateway) ordered this client to stop."
        case .start(.noAnswer, let gateway): "No gateway answered at \(gateway) within 15 s."
        case .start(.refused(let reason), let gateway):
            "The gateway at \(gateway) gives this client no settings: \(reason)."
        case .start(.poolExhausted, let gateway): "The gateway at \(gateway) has no address left."
        case .start(.rejected(let findings), let gateway):
            "The settings of the gateway at \(gateway) cannot be used: "
                + findings.prefix(3).map { "\($0.reason)" }.joined(separator: "; ") + "."
        case .start(.applyFailed, let gateway):
            "The settings of the gateway at \(gateway) could not be applied on this host."
        }
    }

    var remedy: String {
        switch self {
        case .policy(let error): error.remedy
        case .noGateway: "Add Endpoint to the gateway's [Peer], or set settings = static."
        case .dismissed: "Ask who operates the gateway."
        case .start(.noAnswer, _):
            "Check endpoint and keys, and that the gateway knows this client's public key and pushes settings; "
                + "pushPreferred starts without it."
        case .start(.refused, _), .start(.poolExhausted, _): "Ask who operates the gateway."
        case .start(.rejected, _): "Compare the reasons with the policy lines of the profile."
        case .start(.applyFailed, _): "See the log for what the host refused."
        }
    }
}
