/// Where the manager listens.
public enum ControlLocation {
    /// The variable that moves the sockets.
    public static let environmentKey = "PROVIDERHOST_RUNTIME_DIR"
    /// The name of the socket in its folder.
    public static let socketName = "manager"

    /// The folder of the sockets: `$PROVIDERHOST_RUNTIME_DIR`, else `$RUNTIME_DIRECTORY` (systemd), else `/run/providerhost`.
    public static func folder(_ environment: [String: String]) -> String {
        for key in [environmentKey, "RUNTIME_DIRECTORY"] {
            // systemd separates several folders by colons.
            if let first = environment[key]?.split(separator: ":").first { return String(first) }
        }
        return "/run/providerhost"
    }

    /// The path of the control socket.
    public static func socketPath(_ environment: [String: String]) -> String {
        folder(environment) + "/" + socketName
    }
}
