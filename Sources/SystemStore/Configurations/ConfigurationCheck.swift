internal import ProviderKit

/// What a configuration must fulfil to be saved, apart from what the store holds.
enum ConfigurationCheck {
    /// The most bytes that a configuration takes.
    static let contentLimit = 1 << 20
    private static let nameLimit = 255
    private static let depthLimit = 32

    /// Throws the first defect.
    static func check(_ configuration: VPNConfiguration) throws(VPNError) {
        guard let object = configuration.protocolConfiguration else {
            throw invalid("protocolConfiguration is missing.", "Set a TunnelProviderProtocol, or IKEv2 or IPSec.")
        }
        try checkName(configuration.localizedDescription ?? "")
        guard object.common.serverAddress?.isEmpty == false else {
            throw invalid("serverAddress is missing.", "Set it; for a tunnel provider any label will do.")
        }
        switch (configuration.slot, object) {
        case (.tunnelProvider, .tunnelProvider(let tunnel)): try checkTunnel(tunnel)
        case (.personal, .ikev2(let ikev2)):
            try checkAuthentication(ikev2.authentication, ikev2.common, allowsNone: true)
        case (.personal, .ipsec(let ipsec)):
            try checkAuthentication(ipsec.authentication, ipsec.common, allowsNone: false)
        case (.tunnelProvider, _):
            throw invalid(
                "A TunnelProviderManager takes a TunnelProviderProtocol only, not \(object.kind.rawValue).",
                "Save it with VPNManager.shared.")
        case (.personal, _):
            throw invalid(
                "The personal VPN takes IKEv2 or IPSec only, not a tunnel provider.",
                "Save it with a TunnelProviderManager.")
        }
    }

    private static func checkName(_ name: String) throws(VPNError) {
        guard !name.isEmpty, name.utf8.count <= nameLimit else {
            throw invalid("localizedDescription has \(name.utf8.count) bytes.", "Use 1 to \(nameLimit).")
        }
        guard name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw invalid("localizedDescription holds a control character.", "Leave it out.")
        }
    }

    private static func checkTunnel(_ tunnel: TunnelProviderProtocol) throws(VPNError) {
        let identifier = tunnel.providerBundleIdentifier
        let isPlain = identifier.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): true
            default: false
            }
        }
        guard !identifier.isEmpty, identifier.utf8.count <= 155, isPlain else {
            throw invalid(
                "providerBundleIdentifier \(identifier.debugDescription) is no bundle identifier.",
                "Use one of those that `providerhost bundles` lists.")
        }
        guard depth(.dictionary(tunnel.providerConfiguration)) <= depthLimit else {
            throw invalid("providerConfiguration is nested too deeply.", "Keep it within \(depthLimit) levels.")
        }
    }

    private static func checkAuthentication(
        _ authentication: VPNIKEAuthentication, _ common: VPNProtocolValues, allowsNone: Bool
    ) throws(VPNError) {
        switch authentication.authenticationMethod {
        case .none where !allowsNone:
            throw invalid("IPSec needs an authenticationMethod.", "Use a certificate or a shared secret.")
        case .none where !authentication.useExtendedAuthentication:
            throw invalid("Nothing proves who the client is.", "Set authenticationMethod or useExtendedAuthentication.")
        case .certificate where common.identityReference == nil && common.identityData == nil:
            throw invalid("The certificate is missing.", "Set identityReference, or identityData and its password.")
        case .sharedSecret where authentication.sharedSecretReference == nil:
            throw invalid("sharedSecretReference is missing.", "Add the secret to the keychain and set its reference.")
        case .none, .certificate, .sharedSecret: return
        }
    }

    private static func depth(_ value: PropertyListValue) -> Int {
        switch value {
        case .array(let values): 1 + (values.map(depth).max() ?? 0)
        case .dictionary(let values): 1 + (values.values.map(depth).max() ?? 0)
        default: 0
        }
    }

    private static func invalid(_ cause: String, _ remedy: String) -> VPNError {
        VPNError(.configurationInvalid, cause: cause, remedy: remedy)
    }
}
