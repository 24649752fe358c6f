internal import Glibc

/// A system call that failed.
struct SystemFailure: Error, Equatable {
    let code: Int32

    /// Keeps the errno of the call that just failed.
    init() { code = errno }

    /// Keeps a known errno.
    init(code: Int32) { self.code = code }

    /// The system's own words.
    var reason: String {
        // SAFETY: `strerror` returns a string that lives until the next call on this thread; it is copied at once.
        unsafe String(cString: strerror(code))
    }
}

/// What the system says about a folder, without following a link in the last place.
struct FolderStatus {
    let isFolder: Bool
    let owner: UInt32
    let permissions: UInt32

    /// Whether the process may rely on nobody else writing it.
    var isOwnedByUs: Bool { owner == geteuid() }

    /// Looks at a folder and makes it where it is missing; the folder above must exist.
    static func creating(_ path: String) throws(SystemFailure) -> FolderStatus {
        // SAFETY: the path is a NUL-ended copy for the length of the call.
        if unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw SystemFailure() }
        return try FolderStatus(of: path)
    }

    /// Looks at a folder.
    init(of path: String) throws(SystemFailure) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { throw SystemFailure() }
        isFolder = status.st_mode & S_IFMT == S_IFDIR
        owner = status.st_uid
        permissions = status.st_mode & 0o7777
    }

    /// Takes everything away from everybody but the owner.
    func restrict(_ path: String) -> Bool { unsafe chmod(path, 0o700) == 0 }
}
