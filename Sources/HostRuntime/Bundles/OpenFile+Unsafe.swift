internal import Glibc

/// An open file or folder together with what `fstat` says about the very same object.
///
/// Owner, mode and kind are those of the descriptor that is read, so nothing can be exchanged between check and use.
struct OpenFile: ~Copyable {
    /// What a descriptor refers to.
    enum Kind { case file, folder, symbolicLink, other }

    /// A system call that failed.
    struct Failure: Error, Equatable {
        let code: Int32

        /// The system's own words for the code.
        var reason: String {
            // SAFETY: `strerror` returns a string of its own that lives until the next call on this thread.
            unsafe String(cString: strerror(code))
        }
    }

    let descriptor: Int32
    let kind: Kind
    /// The user that owns the object.
    let owner: UInt32
    /// The permission bits, 0 to 0o7777.
    let permissions: UInt32
    /// The length in bytes.
    let size: Int
    /// Device and inode: equal for two paths of one object.
    let identity: Identity

    /// What makes a file the same file.
    struct Identity: Hashable {
        let device: UInt64
        let inode: UInt64
    }

    deinit { close(descriptor) }

    /// Opens a file for reading, without blocking on a pipe and without taking a terminal.
    ///
    /// - Parameters:
    ///   - path: An absolute path, or one relative to `folder`.
    ///   - folder: The descriptor of a folder, `AT_FDCWD` for the current one.
    ///   - followingLinks: False to refuse a symbolic link at the last step with ELOOP.
    /// - Returns: The open file, whatever its kind.
    /// - Throws: ``Failure``.
    static func file(_ path: String, in folder: Int32 = AT_FDCWD, followingLinks: Bool) throws(Failure) -> OpenFile {
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (followingLinks ? 0 : O_NOFOLLOW)
        return try OpenFile(path, in: folder, flags: flags)
    }

    /// Opens a path only to look at it and below it; a symbolic link at the last step is opened itself.
    static func location(_ path: String, in folder: Int32 = AT_FDCWD) throws(Failure) -> OpenFile {
        // O_PATH has no name in Glibc's Swift overlay without _GNU_SOURCE: asm-generic/fcntl.h gives its value.
        try OpenFile(path, in: folder, flags: 0o10000000 | O_CLOEXEC | O_NOFOLLOW)
    }

    private init(_ path: String, in folder: Int32, flags: Int32) throws(Failure) {
        // SAFETY: the path is a NUL-ended copy for the length of the call.
        var opened = unsafe openat(folder, path, flags)
        while opened < 0, errno == EINTR { opened = unsafe openat(folder, path, flags) }
        guard opened >= 0 else { throw Failure(code: errno) }
        var status = stat()
        // SAFETY: `status` is exclusive for the length of the call.
        guard unsafe fstat(opened, &status) == 0 else {
            let code = errno
            close(opened)
            throw Failure(code: code)
        }
        descriptor = opened
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .symbolicLink
            default: .other
            }
        owner = status.st_uid
        permissions = status.st_mode & 0o7777
        size = Int(status.st_size)
        identity = Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// Reads the file from its start.
    ///
    /// - Parameter limit: The most bytes that are accepted.
    /// - Returns: The bytes, or nil when there are more than `limit`.
    /// - Throws: ``Failure``.
    func read(atMost limit: Int) throws(Failure) -> [UInt8]? {
        var bytes: [UInt8] = []
        let chunk = 65_536
        while bytes.count <= limit {
            let wanted = min(chunk, limit + 1 - bytes.count)
            var failure: Int32 = 0
            // SAFETY: `pread` writes at most the `wanted` bytes that the buffer has room for.
            let more = unsafe [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
                var got = unsafe pread(descriptor, buffer.baseAddress, wanted, off_t(bytes.count))
                while got < 0, errno == EINTR {
                    got = unsafe pread(descriptor, buffer.baseAddress, wanted, off_t(bytes.count))
                }
                if got < 0 { failure = errno }
                count = max(0, got)
            }
            guard failure == 0 else { throw Failure(code: failure) }
            if more.isEmpty { return bytes }
            bytes.append(contentsOf: more)
        }
        return nil
    }
}
