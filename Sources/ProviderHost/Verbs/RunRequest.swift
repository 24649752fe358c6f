internal import HostRuntime
internal import ProviderKit

/// The arguments of `run`, checked.
struct RunRequest: Sendable, Equatable {
    let bundleIdentifier: String
    let configurationPath: String?
    /// The name of the interface; nil for the first free one.
    let interfaceName: String?
    let dnsBackend: DNSBackend
    let logLevel: LogLevel
    let allowsHooks: Bool
    let includesAllNetworks: Bool
    let excludesLocalNetworks: Bool
    let enforcesRoutes: Bool
    let isolation: Isolation
    let masquerades: Bool
    let wantsJSON: Bool

    /// Checks the values of the options.
    ///
    /// - Throws: ``UsageError`` that names the option.
    init(_ arguments: Arguments) throws(UsageError) {
        bundleIdentifier = arguments.values["bundle-id"] ?? ""
        configurationPath = arguments.values["config"]
        interfaceName = try arguments.values["interface"].map(Self.checkedInterfaceName)
        dnsBackend = try arguments.values["dns"].map(Self.dnsBackend) ?? .automatic
        logLevel = try arguments.values["log-level"].map(Self.logLevel) ?? .info
        allowsHooks = arguments.switches.contains("allow-hooks")
        includesAllNetworks = arguments.switches.contains("include-all-networks")
        excludesLocalNetworks = arguments.switches.contains("exclude-local-networks")
        enforcesRoutes = arguments.switches.contains("enforce-routes")
        isolation = try arguments.values["isolation"].map(Self.isolation) ?? .none
        masquerades = arguments.switches.contains("masquerade")
        wantsJSON = arguments.wantsJSON
        try checkKillSwitch()
        try checkIsolation()
    }

    /// The protocol that the provider is given.
    func protocolConfiguration(
        from file: ConfigurationFile?
    ) -> TunnelProviderProtocol {
        var values = file?.providerConfiguration ?? [:]
        // Only the switches decide: a file must not grant itself the right to run commands, nor to forward.
        values[TunnelProviderProtocol.allowHooksKey] = .boolean(allowsHooks)
        values[TunnelProviderProtocol.masqueradeKey] = masquerades ? .boolean(true) : nil
        if isolation != .none { values[TunnelProviderProtocol.isolationKey] = .string(isolation.rawValue) }
        var configuration = TunnelProviderProtocol(
            providerBundleIdentifier: bundleIdentifier, providerConfiguration: values)
        configuration.includeAllNetworks = includesAllNetworks
        configuration.excludeLocalNetworks = excludesLocalNetworks
        configuration.enforceRoutes = enforcesRoutes
        return configuration
    }

    /// Refuses combinations of which one part would be without effect.
    private func checkKillSwitch() throws(UsageError) {
        if includesAllNetworks, enforcesRoutes {
            throw UsageError(
                .invalidValue, cause: "--enforce-routes has no effect beside --include-all-networks.",
                remedy: "Leave out --enforce-routes: all networks include those of the routes.")
        }
        if excludesLocalNetworks, !includesAllNetworks, !enforcesRoutes {
            throw UsageError(
                .invalidValue, cause: "--exclude-local-networks has no effect by itself.",
                remedy: "Give --include-all-networks or --enforce-routes too, or leave it out.")
        }
    }

    private func checkIsolation() throws(UsageError) {
        guard isolation == .namespace else { return }
        let useless = [
            ("include-all-networks", includesAllNetworks), ("enforce-routes", enforcesRoutes),
            ("masquerade", masquerades), ("dns", ![.automatic, .none].contains(dnsBackend)),
        ]
        guard let option = useless.first(where: \.1)?.0 else { return }
        throw UsageError(
            .invalidValue, cause: "--\(option) has no effect beside --isolation namespace.",
            remedy: "Leave out --\(option): there is nothing but the tunnel in a namespace of its own.")
    }

    static func isolation(_ text: String) throws(UsageError) -> Isolation {
        guard let isolation = Isolation(rawValue: text) else {
            throw UsageError(
                .invalidValue, cause: "There is no isolation `\(text.printable)`.",
                remedy: "They are \(Isolation.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return isolation
    }

    static func checkedInterfaceName(_ name: String) throws(UsageError) -> String {
        guard InterfaceName.isValid(name) else {
            throw UsageError(
                .invalidValue, cause: "`\(name.printable)` is no name for an interface.",
                remedy: "Use 1 to 15 of the characters a-z A-Z 0-9 _ = + . - in --interface.")
        }
        return name
    }

    private static func dnsBackend(_ text: String) throws(UsageError) -> DNSBackend {
        guard let backend = DNSBackend(rawValue: text) else {
            throw UsageError(
                .invalidValue, cause: "There is no DNS back end `\(text.printable)`.",
                remedy: "They are \(DNSBackend.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return backend
    }

    private static func logLevel(_ text: String) throws(UsageError) -> LogLevel {
        let names = LogLevel.allCases.map { "\($0)" }
        guard let level = LogLevel.allCases.first(where: { "\($0)" == text }) else {
            throw UsageError(
                .invalidValue, cause: "There is no log level `\(text.printable)`.",
                remedy: "The levels are \(names.joined(separator: ", ")).")
        }
        return level
    }
}
