private import Glibc
import ProviderKit

/// Loads modules; never unloads one, because Swift metadata stays registered for the life of a process.
enum ModuleLoader {
    /// Loads the library of a bundle and makes its provider.
    ///
    /// - Parameters:
    ///   - path: The shared library, checked by the manager.
    ///   - principalClass: Its class, which names the factory.
    ///   - context: What the provider is given.
    /// - Returns: The module's provider.
    /// - Throws: ``ModuleError``.
    static func load(
        path: String, principalClass: String, context: any ProviderContext
    ) throws(ModuleError) -> any PacketTunnelProvider {
        guard unsafe access(path, F_OK) == 0 else { throw .missing(path: path) }
        // dlopen searches the library path for a name without a slash.
        let absolute = path.hasPrefix("/") ? path : "./\(path)"
        guard let module = unsafe dlopen(absolute, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) else {
            throw .notLoadable(path: path, reason: unsafe dlerror().map { unsafe String(cString: $0) } ?? "no reason")
        }
        guard let stamp = unsafe dlsym(module, ProviderModule.stampSymbol) else { throw .noStamp(path: path) }
        let text = unsafe boundedString(stamp.assumingMemoryBound(to: CChar.self))
        guard text == ProviderModule.stamp else {
            throw .otherStamp(path: path, module: text, host: ProviderModule.stamp)
        }
        let name = ProviderModule.factorySymbol(for: principalClass)
        guard let symbol = unsafe dlsym(module, name) else { throw .noFactory(path: path, symbol: name) }
        // SAFETY: the stamp says that the module was built with this contract, where the symbol has this type.
        let factory = unsafe unsafeBitCast(symbol, to: ProviderModule.Factory.self)
        guard let provider = unsafe ProviderModule.adopt(factory, context: context) else {
            throw .noProvider(path: path, principalClass: principalClass)
        }
        return provider
    }

    /// The stamp up to its NUL, at most 256 bytes: it is not known yet whether it is one.
    private static func boundedString(_ start: UnsafePointer<CChar>) -> String {
        let length = unsafe strnlen(start, 256)
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: length)
        return unsafe String(decoding: bytes, as: UTF8.self)
    }
}
