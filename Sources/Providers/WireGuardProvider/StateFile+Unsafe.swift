import Glibc

/// A small file that is there whole or not at all, also after a power cut.
struct StateFile: Sendable {
    /// More is never read.
    static let maximumSize = 256

    let path: String

    /// The text of the file, nil where there is none.
    ///
    /// - Throws: What the system refused, or that the file is no text of at most `maximumSize` bytes.
    func read() throws(StateFileError) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw StateFileError(reading: path)
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.maximumSize + 1)
        // SAFETY: `read` writes at most `count` bytes into an array of `count` bytes.
        let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw StateFileError(reading: path) }
        guard count <= Self.maximumSize, let text = String(validating: bytes[..<count], as: UTF8.self) else {
            throw StateFileError(description: "\(path) is not what was stored")
        }
        return text
    }

    /// Replaces the file.
    ///
    /// - Throws: What the system refused; the file is as it was then.
    func write(_ text: String) throws(StateFileError) {
        let temporary = "\(path).new-\(getpid())"
        _ = unsafe unlink(temporary)
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw StateFileError(writing: path) }
        defer {
            close(descriptor)
            _ = unsafe unlink(temporary)
        }
        let bytes = Array(text.utf8)
        // SAFETY: `write` reads `count` bytes of an array of `count` bytes.
        guard unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0,
            unsafe rename(temporary, path) == 0
        else { throw StateFileError(writing: path) }
    }
}

/// Why a state file could not be read or written.
struct StateFileError: Error, CustomStringConvertible {
    let description: String

    fileprivate init(reading path: String) { self.init(description: "\(path) cannot be read: \(Self.reason)") }
    fileprivate init(writing path: String) { self.init(description: "\(path) cannot be written: \(Self.reason)") }
    fileprivate init(description: String) { self.description = description }

    private static var reason: String {
        // SAFETY: `strerror` returns a string that lives until the next call on this thread; it is copied at once.
        unsafe String(cString: strerror(errno))
    }
}
