import Glibc

/// The folder in /etc with a namespace's own files, which `ip netns exec` puts in the place of the machine's.
///
/// The process that has locked it owns the namespace. The lock goes with the process, so that what is left can be told.
struct SpaceFolder: ~Copyable {
    static let root = "/etc/netns"
    private static let files = ["resolv.conf", "nsswitch.conf"]
    private static let sizeLimit = 1 << 16

    let path: String
    // INVARIANT: open, and locked; closed once, in deinit.
    private let descriptor: Int32

    /// Makes the folder, or takes over the one that is there; nil where that belongs to a process that runs.
    init?(claiming name: String) throws(FileFailure) {
        let path = Self.path(name)
        for folder in [Self.root, path] {
            guard unsafe mkdir(folder, 0o755) == 0 || errno == EEXIST else {
                throw FileFailure(path: folder, code: errno)
            }
        }
        let opened = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard opened >= 0 else { throw FileFailure(path: path, code: errno) }
        var locked = stat()
        var present = stat()
        // Between opening and locking, whoever had it may have removed it.
        guard flock(opened, LOCK_EX | LOCK_NB) == 0, unsafe fstat(opened, &locked) == 0,
            unsafe stat(path, &present) == 0, locked.st_ino == present.st_ino
        else {
            close(opened)
            return nil
        }
        self.path = path
        descriptor = opened
    }

    deinit { close(descriptor) }

    /// The folder of a namespace.
    static func path(_ name: String) -> String { "\(root)/\(name)" }

    /// Whether a folder was made by us.
    static func isOurs(_ name: String) -> Bool {
        let text = try? TextFile.read(path(name) + "/" + SpaceResolver.fileName, limit: sizeLimit)
        return text.flatMap(\.self)?.hasPrefix(SpaceResolver.marker) ?? false
    }

    /// Whether there is nothing in it.
    var isEmpty: Bool { FolderNames.list(path).isEmpty }

    /// Removes the folder with our files.
    func remove() throws(FileFailure) {
        for file in Self.files { try TextFile.remove("\(path)/\(file)") }
        guard unsafe rmdir(path) == 0 || errno == ENOENT else { throw FileFailure(path: path, code: errno) }
    }
}
