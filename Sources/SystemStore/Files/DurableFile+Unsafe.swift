internal import Glibc

/// What makes a file the same file.
struct FileIdentity: Hashable {
    private let device: UInt64
    private let inode: UInt64

    /// Looks at a file, without following a link; nil where there is none.
    init?(of path: String) {
        var status = stat()
        // SAFETY: the path is a NUL-ended copy, and `status` exclusive, for the length of the call.
        guard unsafe lstat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}

/// Small files that are there whole or not at all, also after a power cut.
enum DurableFile {
    /// Reads a file of exactly `count` bytes that nobody but its owner may read.
    ///
    /// - Returns: nil where there is no such file.
    /// - Throws: EINVAL for another length, EPERM for a file that others may read.
    static func read(_ path: String, count: Int) throws(SystemFailure) -> SecretBytes? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw SystemFailure()
        }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw SystemFailure() }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size == count else { throw SystemFailure(code: EINVAL) }
        guard status.st_mode & 0o077 == 0, status.st_uid == geteuid() else { throw SystemFailure(code: EPERM) }
        var got = 0
        // SAFETY: `read` writes at most `count` bytes into a buffer of `count` bytes.
        let bytes = unsafe SecretBytes(count: count) { unsafe got = Glibc.read(descriptor, $0, count) }
        guard got == count else { throw got < 0 ? SystemFailure() : SystemFailure(code: EIO) }
        return bytes
    }

    /// Writes a new file; an existing one is left as it is, and EEXIST thrown.
    static func create(_ path: String, _ bytes: SecretBytes) throws(SystemFailure) {
        let temporary = "\(path).new-\(getpid())"
        _ = unsafe unlink(temporary)
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw SystemFailure() }
        defer {
            close(descriptor)
            _ = unsafe unlink(temporary)
        }
        // SAFETY: the buffer lives for the length of the call, and its own count is passed.
        let written = unsafe bytes.withPointer { unsafe write(descriptor, $0, bytes.count) }
        guard written == bytes.count else { throw written < 0 ? SystemFailure() : SystemFailure(code: ENOSPC) }
        guard fsync(descriptor) == 0 else { throw SystemFailure() }
        // A link, not a rename: of two processes that make the file, the first one counts.
        guard unsafe link(temporary, path) == 0 else { throw SystemFailure() }
        try syncFolder(of: path)
    }

    /// Renames a file that may be missing.
    static func rename(_ path: String, to target: String) throws(SystemFailure) {
        guard unsafe Glibc.rename(path, target) != 0 else { return }
        guard errno == ENOENT else { throw SystemFailure() }
    }

    /// Puts names that were made, changed or removed in a file's folder on the disk.
    static func syncFolder(of path: String) throws(SystemFailure) {
        let end = path.lastIndex(of: "/") ?? path.startIndex
        let folder = String(path[..<end])
        let descriptor = unsafe open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemFailure() }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw SystemFailure() }
    }

    /// Runs `body` while no other process or thread holds the lock of this file.
    static func withLock<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw SystemFailure() }
        // Closing gives the lock back.
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw SystemFailure() }
        }
        return try body()
    }
}
