import ProviderKit

/// The factory that the host looks for.
@c(providerhost_create_GatewayProvider)
public func createProvider(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    unsafe ProviderModule.create(context) { GatewayProvider(context: $0) }
}
