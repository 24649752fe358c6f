import Glibc

/// A call on a file that failed.
struct FileFailure: Error, CustomStringConvertible {
    var path: String
    /// The errno, positive.
    var code: Int32

    var description: String { "\(path): \(errorText(code))" }
}

/// Small files that are replaced as a whole.
enum TextFile {
    /// The text of a file, symbolic links followed; nil if there is none.
    ///
    /// A longer file fails with EFBIG.
    static func read(_ path: String, limit: Int) throws(FileFailure) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw FileFailure(path: path, code: errno)
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= limit {
            // SAFETY: at most `count` bytes are written into the buffer.
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 else { throw FileFailure(path: path, code: errno) }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk.prefix(count)
        }
        throw FileFailure(path: path, code: EFBIG)
    }

    /// Whether there is a file, or a symbolic link even to nothing.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    /// The name of a file until it takes the place of the one at `path`.
    static func fresh(_ path: String) -> String { path + ".new" }

    /// Puts a new file in the place of an old one in one step, with the mode and owner of `model`; where the file is a mount
    /// of its own, overwrites it.
    static func replace(_ path: String, with text: String, like model: String?) throws(FileFailure) {
        let fresh = Self.fresh(path)
        var status = stat()
        let hasModel = try model.map { (model) throws(FileFailure) in
            guard unsafe stat(model, &status) == 0 else {
                // The backup may be a symbolic link to nothing.
                if errno == ENOENT { return false }
                throw FileFailure(path: model, code: errno)
            }
            return true
        }
        try remove(fresh)
        let descriptor = unsafe open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFailure(path: fresh, code: errno) }
        do throws(FileFailure) {
            defer { close(descriptor) }
            if hasModel == true, fchown(descriptor, status.st_uid, status.st_gid) != 0 {
                throw FileFailure(path: fresh, code: errno)
            }
            guard fchmod(descriptor, hasModel == true ? status.st_mode & 0o7777 : 0o644) == 0 else {
                throw FileFailure(path: fresh, code: errno)
            }
            try write(text, to: descriptor, fresh)
            try rename(fresh, to: path)
        } catch {
            try? remove(fresh)
            guard error.code == EBUSY else { throw error }
            try overwrite(path, with: text)
        }
    }

    /// Writes over the content of a file that exists.
    static func overwrite(_ path: String, with text: String) throws(FileFailure) {
        let descriptor = unsafe open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFailure(path: path, code: errno) }
        defer { close(descriptor) }
        try write(text, to: descriptor, path)
    }

    /// Gives a file a second name, also if it is a symbolic link.
    static func link(_ path: String, as other: String) throws(FileFailure) {
        guard unsafe Glibc.link(path, other) == 0 else { throw FileFailure(path: path, code: errno) }
    }

    /// Moves a file into the place of another in one step, and makes that last.
    static func rename(_ path: String, to other: String) throws(FileFailure) {
        guard unsafe Glibc.rename(path, other) == 0 else { throw FileFailure(path: other, code: errno) }
        let folder = unsafe open(String(other[..<(other.lastIndex(of: "/") ?? other.startIndex)]), O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        _ = fsync(folder)
        close(folder)
    }

    /// Removes a file; one that is not there is fine.
    static func remove(_ path: String) throws(FileFailure) {
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw FileFailure(path: path, code: errno) }
    }

    private static func write(_ text: String, to descriptor: Int32, _ path: String) throws(FileFailure) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            // SAFETY: the buffer outlives the call, and its own count is passed.
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw FileFailure(path: path, code: count < 0 ? errno : EIO) }
            rest = rest.dropFirst(count)
        }
        guard fsync(descriptor) == 0 else { throw FileFailure(path: path, code: errno) }
    }
}

/// A folder of the system.
struct Folder: Sendable {
    private static let patience = 5000

    let path: String

    /// Runs `body` while no other process that asks for the lock has it; waits for a few seconds at most.
    func locked(_ body: () throws(FileFailure) -> Void) throws(FileFailure) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard descriptor >= 0 else { throw FileFailure(path: path, code: errno) }
        defer { close(descriptor) }
        for waited in 0... {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { break }
            guard errno == EWOULDBLOCK || errno == EINTR, waited < Self.patience else {
                throw FileFailure(path: path, code: errno)
            }
            usleep(1000)
        }
        try body()
    }
}
