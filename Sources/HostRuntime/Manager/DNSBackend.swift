internal import NetworkSettings

/// What DNS settings are given to.
public enum DNSBackend: String, Sendable, CaseIterable {
    /// What the machine uses.
    case automatic = "auto"
    /// systemd-resolved, over D-Bus.
    case resolved
    /// The program resolvconf.
    case resolvconf
    /// The file /etc/resolv.conf, which comes back at the end.
    case file
    /// Nothing: the machine's resolvers stay as they are.
    case none

    func make() throws(ResolverError) -> any Resolver {
        switch self {
        case .automatic: try SystemResolver.detect()
        case .resolved: try SystemResolver.resolved()
        case .resolvconf: try SystemResolver.resolvconf()
        case .file: SystemResolver.file()
        case .none: NoResolver.leftAlone
        }
    }
}

extension NoResolver {
    /// The back end of ``DNSBackend/none``.
    static let leftAlone = NoResolver(
        reason: "DNS is left alone (--dns none)", remedy: "Name another back end with --dns, or leave the option out.")
}
