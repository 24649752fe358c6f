public import ProviderKit

/// Why a module was not loaded; Network Extension's `pluginDisabled`, each case with its own cause and remedy.
public enum ModuleError: TunnelError, Equatable {
    /// There is no file at the path.
    case missing(path: String)
    /// The dynamic linker refused the file; its own words.
    case notLoadable(path: String, reason: String)
    /// The library has no stamp, so it is no module.
    case noStamp(path: String)
    /// The module was built with another contract or compiler.
    case otherStamp(path: String, module: String, host: String)
    /// The module exports no factory.
    case noFactory(path: String, symbol: String)
    /// What the factory made is no provider.
    case noProvider(path: String, principalClass: String)

    public var errorDomain: String { VPNConnectionErrorCode.domain }
    public var errorCode: Int { VPNConnectionErrorCode.pluginDisabled.rawValue }

    public var cause: String {
        switch self {
        case .missing(let path): "The bundle's executable \(path) does not exist."
        case .notLoadable(let path, let reason): "The module \(path) could not be loaded: \(reason)."
        case .noStamp(let path):
            "The library \(path) does not export \(ProviderModule.stampSymbol), so it is not a provider module."
        case .otherStamp(let path, let module, let host):
            "The module \(path) was built for \"\(module)\", this host for \"\(host)\"."
        case .noFactory(let path, let symbol): "The module \(path) does not export \(symbol)."
        case .noProvider(let path, let principalClass):
            "What the factory of \(path) made (\(principalClass)) is not a PacketTunnelProvider of this host."
        }
    }

    public var remedy: String {
        switch self {
        case .missing: "Build the bundle, or correct CFBundleExecutable in its Info.plist."
        case .notLoadable: "Install the libraries that it names, and build it for this machine."
        case .noStamp: "Link the module with the product ProviderModule of package ProviderKit."
        case .otherStamp: "Rebuild the module with this host's ProviderKit and compiler."
        case .noFactory(_, let symbol):
            "Define the factory with @c(\(symbol)), or correct NSExtensionPrincipalClass in the Info.plist."
        case .noProvider: "Link the module with the host's own copy of ProviderKit, and none besides."
        }
    }
}
