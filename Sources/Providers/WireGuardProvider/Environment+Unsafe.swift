import Glibc

/// What the engine takes from its process.
enum Environment {
    /// The value of an environment variable.
    static func value(_ name: String) -> String? {
        guard let text = unsafe getenv(name) else { return nil }
        return unsafe String(cString: text)
    }

    /// A duplicate of a descriptor that belongs to somebody else; -1 when the system gives none.
    static func duplicate(_ descriptor: Int32) -> Int32 {
        fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    }
}
