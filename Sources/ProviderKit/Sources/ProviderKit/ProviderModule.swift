private import CProviderStamp

/// The way from a shared library to a provider: one line in the module, one call in the host.
///
/// A module exports its factory as a C symbol that is named for the principal class of its bundle
/// (`NSExtensionPrincipalClass`):
/// ```swift
/// @c(providerhost_create_MyProvider)
/// public func createProvider(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
///     unsafe ProviderModule.create(context) { MyProvider(context: $0) }
/// }
/// ```
public enum ProviderModule {
    /// The C symbol of the factory for a principal class, given as `Module.Class` or `Class`.
    public static func factorySymbol(for principalClass: String) -> String {
        let name = principalClass.split(separator: ".").last ?? ""
        return "providerhost_create_\(name)"
    }

    /// The C symbol of the stamp in every module (a NUL-ended string); the product `ProviderModule` defines it.
    public static let stampSymbol = "providerhost_module_stamp"
    /// The type of the factory.
    public typealias Factory = @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer

    /// The stamp of this ProviderKit, contract and compiler: a module with another one is not called.
    public static var stamp: String { unsafe String(cString: providerhost_stamp()) }
    /// The version of the contract, as `PHContractVersion` of a bundle's `Info.plist` has it.
    public static let contractVersion = PROVIDERHOST_CONTRACT_VERSION

    /// Makes the provider inside the module; called by the factory only.
    ///
    /// - Parameters:
    ///   - context: What the host passed to the factory.
    ///   - make: Makes the principal object.
    /// - Returns: The retained provider, for ``adopt(_:)`` in the host.
    @unsafe public static func create(
        _ context: UnsafeMutableRawPointer, _ make: (any ProviderContext) -> any PacketTunnelProvider
    ) -> UnsafeMutableRawPointer {
        let box = unsafe Unmanaged<ContextBox>.fromOpaque(context).takeUnretainedValue()
        return unsafe Unmanaged.passRetained(make(box.context) as AnyObject).toOpaque()
    }

    /// Calls a module's factory; called by the host only.
    ///
    /// - Returns: The provider, or nil when what the factory made does not conform, which two copies of ProviderKit cause.
    @unsafe public static func adopt(
        _ factory: Factory, context: any ProviderContext
    ) -> (any PacketTunnelProvider)? {
        let box = ContextBox(context)
        return withExtendedLifetime(box) {
            let made = unsafe factory(Unmanaged.passUnretained(box).toOpaque())
            return unsafe Unmanaged<AnyObject>.fromOpaque(made).takeRetainedValue() as? any PacketTunnelProvider
        }
    }
}

/// Carries the context through the C factory as one pointer.
private final class ContextBox {
    let context: any ProviderContext
    init(_ context: any ProviderContext) { self.context = context }
}
