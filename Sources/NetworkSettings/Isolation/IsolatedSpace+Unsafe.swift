import CTun
import Glibc
import ProviderKit

/// The system calls on namespaces.
extension IsolatedSpace {
    /// Makes the namespace and returns a descriptor of it.
    static func make(_ name: String) throws(FileFailure) -> Int32 {
        let path = path(name)
        let result = unsafe ctun_namespace_make(root, path)
        guard result == 0 else { throw FileFailure(path: path, code: -result) }
        return try open(name)
    }

    /// A descriptor of a namespace that is there.
    static func open(_ name: String) throws(FileFailure) -> Int32 {
        let descriptor = unsafe Glibc.open(path(name), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFailure(path: path(name), code: errno) }
        return descriptor
    }

    /// Takes the namespace's name away.
    static func unmake(_ name: String) throws(FileFailure) {
        let result = unsafe ctun_namespace_remove(path(name))
        guard result == 0 else { throw FileFailure(path: path(name), code: -result) }
    }

    /// Runs `body` with the calling thread in the namespace of a descriptor.
    static func enter<Result>(_ descriptor: Int32, _ body: () throws -> Result) throws -> Result {
        let home = ctun_namespace_enter(descriptor)
        guard home >= 0 else {
            throw IsolationError(.failed, cause: "The namespace cannot be entered: error \(-home).")
        }
        defer { ctun_namespace_leave(home) }
        return try body()
    }

    /// Closes a descriptor of a namespace.
    static func close(_ descriptor: Int32) { Glibc.close(descriptor) }
}
