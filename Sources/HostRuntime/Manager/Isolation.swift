internal import ProviderKit

/// What a tunnel's interface and settings are kept apart from.
public enum Isolation: String, Sendable, CaseIterable {
    /// Nothing: the machine's own traffic takes the tunnel's routes.
    case none
    /// They lie in a network namespace of their own, which programs are run in to use the tunnel.
    case namespace

    /// The isolation that a configuration asks for.
    ///
    /// - Throws: ``InterfaceError`` for a value that there is not.
    init(_ configuration: TunnelProviderProtocol) throws(InterfaceError) {
        guard let value = configuration.providerConfiguration[TunnelProviderProtocol.isolationKey] else {
            self = .none
            return
        }
        guard let isolation = value.stringValue.flatMap(Isolation.init(rawValue:)) else {
            throw InterfaceError(
                .isolationInvalid, cause: "The configuration's \(TunnelProviderProtocol.isolationKey) names none.")
        }
        self = isolation
    }
}
