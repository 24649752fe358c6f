import ProviderKit

/// The factory that the host looks for.
@c(providerhost_create_WireGuardProvider)
public func createProvider(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    unsafe ProviderModule.create(context) { WireGuardProvider(context: $0) }
}
