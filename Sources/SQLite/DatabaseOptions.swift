/// How a database file is opened.
public struct DatabaseOptions: Hashable, Sendable {
    /// What may be done with the file.
    public enum Access: Hashable, Sendable {
        /// Reading only; the file must exist.
        case readOnly
        /// Reading and writing; the file must exist.
        case readWrite
        /// Reading and writing; a missing file is created with these permissions, whatever the umask is.
        case create(permissions: UInt32)
    }

    /// What may be done with the file.
    public var access: Access
    /// How long a call waits for another connection's lock before it fails with ``SQLiteError/Code/busy``.
    public var busyTimeoutMilliseconds: Int32

    /// Opens for reading and writing by default, creating a file that its owner alone may read.
    public init(access: Access = .create(permissions: 0o600), busyTimeoutMilliseconds: Int32 = 5_000) {
        self.access = access
        self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
    }
}
