private import CProviderStamp

public protocol PacketTunnelProvider: AnyObject { func start() -> String }

public enum ProviderModule {
    public static var stamp: String { unsafe String(cString: providerhost_stamp()) }
    public static func create(_ make: () -> any PacketTunnelProvider) -> UnsafeMutableRawPointer {
        unsafe Unmanaged.passRetained(make() as AnyObject).toOpaque()
    }
    public static func adopt(_ p: UnsafeMutableRawPointer) -> (any PacketTunnelProvider)? {
        unsafe Unmanaged<AnyObject>.fromOpaque(p).takeRetainedValue() as? any PacketTunnelProvider
    }
}
