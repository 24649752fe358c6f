internal import HostRuntime
internal import ProviderKit

/// The arguments of `run`, checked.
struct RunRequest: Sendable, Equatable {
    let bundleIdentifier: String
    let configurationPath: String?
    /// The name of the interface; nil for the first free one.
    let interfaceName: String?
    let logLevel: LogLevel
    let allowsHooks: Bool
    let wantsJSON: Bool

    /// Checks the values of the options.
    ///
    /// - Throws: ``UsageError`` that names the option.
    init(_ arguments: Arguments) throws(UsageError) {
        bundleIdentifier = arguments.values["bundle-id"] ?? ""
        configurationPath = arguments.values["config"]
        interfaceName = try arguments.values["interface"].map(Self.checkedInterfaceName)
        logLevel = try arguments.values["log-level"].map(Self.logLevel) ?? .info
        allowsHooks = arguments.switches.contains("allow-hooks")
        wantsJSON = arguments.wantsJSON
    }

    /// The protocol that the provider is given.
    func protocolConfiguration(
        from file: ConfigurationFile?
    ) -> TunnelProviderProtocol {
        var values = file?.providerConfiguration ?? [:]
        // Only the switch decides: a file must not grant itself the right to run commands.
        values[TunnelProviderProtocol.allowHooksKey] = .boolean(allowsHooks)
        return TunnelProviderProtocol(providerBundleIdentifier: bundleIdentifier, providerConfiguration: values)
    }

    /// Whether the kernel and `wg-quick` accept the name: `[a-zA-Z0-9_=+.-]{1,15}`, not `.` and not `..`.
    static func isInterfaceName(_ name: String) -> Bool {
        (1...15).contains(name.utf8.count) && name != "." && name != ".."
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "="), UInt8(ascii: "+"),
                    UInt8(ascii: "."), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    private static func checkedInterfaceName(_ name: String) throws(UsageError) -> String {
        guard isInterfaceName(name) else {
            throw UsageError(
                .invalidValue, cause: "`\(name.printable)` is no name for an interface.",
                remedy: "Use 1 to 15 of the characters a-z A-Z 0-9 _ = + . - in --interface.")
        }
        return name
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
