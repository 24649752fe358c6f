internal import NetworkSettings
internal import ProviderKit

extension KillSwitch {
    /// The kill switch that a configuration asks for, nil for none.
    ///
    /// As in Network Extension, `enforceRoutes` is without effect beside `includeAllNetworks`, and
    /// `excludeLocalNetworks` without one of them.
    init?(_ configuration: TunnelProviderProtocol) {
        guard configuration.includeAllNetworks || configuration.enforceRoutes else { return nil }
        self.init(
            configuration.includeAllNetworks ? .everything : .routes,
            excludesLocalNetworks: configuration.excludeLocalNetworks)
    }
}
