import ProviderKit

/// Why a gateway could not start.
enum GatewayStartError: TunnelError {
    /// A configuration file was given, which nobody would read.
    case configurationGiven

    var errorDomain: String { "GatewayErrorDomain" }

    var errorCode: Int { 1 }

    var cause: String { "A gateway takes no configuration file: its registry says everything." }

    var remedy: String { "Leave out --config; change the gateway with the `gateway` verbs." }
}
