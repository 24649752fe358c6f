internal import HostRuntime
internal import ProviderKit

/// The arguments of `wireguard` and the variables that wireguard-go takes, checked.
struct WireGuardRequest: Sendable {
    let interfaceName: String
    let isForeground: Bool
    /// The least severe lines of the log that are written; nil for none.
    let logLevel: LogLevel?
    /// Whether a background process writes its log where its maker wrote.
    let keepsOutput: Bool
    /// The descriptor of a TUN device that is there already.
    let device: Int32?
    /// The descriptor of a socket that listens already.
    let listener: Int32?

    /// Checks what was given.
    ///
    /// - Throws: ``UsageError`` that names the argument or the variable.
    init(_ arguments: Arguments, environment: [String: String]) throws(UsageError) {
        let name = arguments.positionals.first ?? ""
        guard InterfaceName.isValid(name) else {
            throw UsageError(
                .invalidValue, cause: "`\(name.printable)` is no name for an interface.",
                remedy: "Use 1 to 15 of the characters a-z A-Z 0-9 _ = + . -")
        }
        interfaceName = name
        isForeground =
            arguments.switches.contains("foreground") || environment["WG_PROCESS_FOREGROUND"] == "1"
        logLevel =
            switch environment["LOG_LEVEL"] {
            case "verbose", "debug": .debug
            case "silent": nil
            default: .error
            }
        keepsOutput = environment["LOG_LEVEL"].map { !$0.isEmpty && $0 != "silent" } ?? false
        device = try Self.descriptor("WG_TUN_FD", environment)
        listener = try Self.descriptor("WG_UAPI_FD", environment)
    }

    private static func descriptor(_ name: String, _ environment: [String: String]) throws(UsageError) -> Int32? {
        guard let text = environment[name], !text.isEmpty else { return nil }
        guard let number = Int32(text), number > 2 else {
            throw UsageError(
                .invalidValue, cause: "\(name) is `\(text.printable)`, which is no descriptor that can be passed on.",
                remedy: "Set it to a number from 3 on, or do not set it.")
        }
        return number
    }
}
