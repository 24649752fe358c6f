internal import Control
internal import HostRuntime
internal import ProviderKit

/// `profile lint`: what would go wrong with a profile, or is probably not meant.
enum ProfileLintVerb {
    static let command = Command(
        name: "profile lint", summary: "Look for what is wrong with a profile, or probably not meant.",
        positionals: [.init(name: "NAME")], options: [.json]
    ) { arguments, console in
        let manager = try ProfileAccess().manager(named: arguments.positionals[0])
        let findings = findings(manager)
        if arguments.wantsJSON {
            console.print(json: Findings(name: manager.localizedDescription, findings: findings))
        } else {
            for finding in findings { console.print("\(finding.cause) \(finding.remedy)") }
            if findings.isEmpty { console.print("Nothing was found.") }
        }
        return findings.isEmpty ? .success : .unknown
    }

    /// The object of `--json`.
    private struct Findings: Encodable {
        let schema = Report.schema
        let name: String?
        let findings: [Finding]

        private enum CodingKeys: String, CodingKey { case schema, name, findings }
    }

    /// One thing that was found.
    struct Finding: Encodable, Equatable {
        let cause: String
        let remedy: String
    }

    static func findings(_ manager: TunnelProviderManager) -> [Finding] {
        var findings: [Finding] = []
        guard let provider = manager.protocolConfiguration else {
            return [Finding(cause: "The profile has no protocol configuration.", remedy: "Import it again.")]
        }
        do throws(BundleError) {
            _ = try BundleIndex().bundle(provider.providerBundleIdentifier)
        } catch {
            findings.append(Finding(cause: error.cause, remedy: error.remedy))
        }
        let values = provider.providerConfiguration
        let text = values[TunnelProviderProtocol.configurationTextKey]?.stringValue ?? ""
        let allowsHooks = values[TunnelProviderProtocol.allowHooksKey]?.booleanValue ?? false
        if !allowsHooks, let hook = ["preup", "postup", "predown", "postdown"].first(where: text.lowercased().contains)
        {
            findings.append(
                Finding(
                    cause: "The configuration runs commands (\(hook)), which are not allowed.",
                    remedy: "Read them, and allow them: profile edit NAME --allow-hooks yes"))
        }
        if !ImportedConfiguration(text: text).secrets.isEmpty {
            findings.append(
                Finding(
                    cause: "The configuration holds a key in clear text.",
                    remedy: "Put it into the keychain: profile edit NAME --config FILE"))
        }
        if !manager.isEnabled {
            findings.append(
                Finding(cause: "The profile is disabled.", remedy: "Enable it: profile enable NAME"))
        }
        return findings
            + OnDemandCheck.warnings(about: manager.onDemandRules ?? []).map { Finding(cause: $0, remedy: "") }
    }
}
