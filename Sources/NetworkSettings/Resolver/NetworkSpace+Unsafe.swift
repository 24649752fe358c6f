import Glibc

/// Which network namespace a process is in.
enum NetworkSpace {
    /// Whether a process is in the namespace of the calling thread; also true where that cannot be found out.
    static func isOurs(process: UInt32) -> Bool {
        guard let theirs = target("/proc/\(process)/ns/net"), let ours = target("/proc/thread-self/ns/net") else { return true }
        return theirs == ours
    }

    /// Whether a file is the one that the machine's first process sees under the same path.
    static func isOfFirstProcess(_ path: String) -> Bool {
        guard let theirs = identity("/proc/1/root" + path), let ours = identity(path) else { return false }
        return theirs == ours
    }

    private static func target(_ link: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: 64)
        // SAFETY: at most `count` bytes are written into the buffer.
        let count = unsafe bytes.withUnsafeMutableBytes { buffer -> Int in
            guard let start = unsafe buffer.bindMemory(to: CChar.self).baseAddress else { return 0 }
            return unsafe readlink(link, start, buffer.count)
        }
        return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }

    private static func identity(_ path: String) -> [UInt64]? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return [UInt64(status.st_dev), UInt64(status.st_ino)]
    }
}
