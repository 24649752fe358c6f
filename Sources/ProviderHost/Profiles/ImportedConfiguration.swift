internal import HostRuntime
internal import ProviderKit

/// The text of a configuration file with its secrets taken out: each has a place in the text, and a name in the keychain.
struct ImportedConfiguration: Sendable, Equatable {
    /// A secret and the name that the text has in its place.
    struct Secret: Sendable, Equatable {
        let name: String
        let value: String
    }

    /// The keys whose values are secret in files of `wg` and `wg-quick`, by their lower case.
    private static let secretKeys = ["privatekey": "PrivateKey", "presharedkey": "PresharedKey"]

    /// The text without secrets.
    let text: String
    /// The secrets in the order of the text.
    let secrets: [Secret]
    /// The server: the first endpoint of the text; a label only.
    let serverAddress: String?

    /// Takes the secrets out of a text.
    init(text original: String) {
        var lines: [Substring] = []
        var secrets: [Secret] = []
        var endpoint: String?
        for line in original.split(separator: "\n", omittingEmptySubsequences: false) {
            let (key, value) = Self.entry(line)
            if endpoint == nil, key == "endpoint" { endpoint = value }
            guard let kind = Self.secretKeys[key], !value.isEmpty, !value.hasPrefix("${keychain:") else {
                lines.append(line)
                continue
            }
            let count = secrets.count { $0.name.hasPrefix(kind) }
            let name = kind == "PrivateKey" && count == 0 ? kind : "\(kind).\(count + 1)"
            secrets.append(Secret(name: name, value: value))
            lines.append("\(kind) = \(TunnelProviderProtocol.keychainPlace(name))")
        }
        text = lines.joined(separator: "\n")
        self.secrets = secrets
        serverAddress = endpoint
    }

    /// The key in lower case and the value of a line, without comment and white space.
    private static func entry(_ line: Substring) -> (key: String, value: String) {
        let parts = line.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
            .split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return ("", "") }
        func trimmed(_ part: Substring) -> String {
            let whole = part.drop(while: \.isWhitespace)
            return String(whole.reversed().drop(while: \.isWhitespace).reversed())
        }
        return (trimmed(parts[0]).lowercased(), trimmed(parts[1]))
    }

    /// Puts a file into a configuration: as text with its secrets aside, or the values of a property list as they are.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - provider: The configuration; what the file does not bring stays.
    /// - Returns: The secrets, which go into the keychain with the next save.
    static func apply(_ file: ConfigurationFile, to provider: inout TunnelProviderProtocol) -> [Secret] {
        guard let text = file.providerConfiguration[TunnelProviderProtocol.configurationTextKey]?.stringValue else {
            // A file must not grant itself the right to run commands, nor to forward.
            let granted = [TunnelProviderProtocol.allowHooksKey, TunnelProviderProtocol.masqueradeKey]
            let values = file.providerConfiguration.filter { !granted.contains($0.key) }
            provider.providerConfiguration.merge(values) { $1 }
            if provider.serverAddress == nil { provider.serverAddress = "unspecified" }
            return []
        }
        let imported = ImportedConfiguration(text: text)
        provider.providerConfiguration[TunnelProviderProtocol.configurationTextKey] = .string(imported.text)
        provider.providerConfiguration[TunnelProviderProtocol.configurationFileKey] =
            file.providerConfiguration[TunnelProviderProtocol.configurationFileKey]
        provider.serverAddress = imported.serverAddress ?? "unspecified"
        return imported.secrets
    }
}
