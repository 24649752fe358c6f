import Glibc

/// Which network namespace the calling thread is in.
enum NetworkSpace {
    private static let own = "/proc/thread-self/ns/net"
    private static let namedSpaces = "/run/netns"

    /// Whether a process is in the same namespace; also true where that cannot be found out.
    static func isOurs(process: UInt32) -> Bool {
        guard let theirs = identity("/proc/\(process)/ns/net"), let ours = identity(own) else { return true }
        return theirs == ours
    }

    /// Whether a file is for this namespace: `ip netns exec` leaves the machine's own in place unless there is one of the
    /// same name in /etc/netns.
    static func owns(_ path: String) -> Bool {
        if let name { return identity("/etc/netns/\(name)/\(path.split(separator: "/").last ?? "")") != nil }
        guard !isOurs(process: 1), let theirs = identity("/proc/1/root" + path) else { return true }
        return theirs != identity(path)
    }

    /// The name that `ip netns` knows the namespace by, if any.
    private static var name: String? {
        guard let ours = identity(own) else { return nil }
        return FolderNames.list(namedSpaces).first { identity("\(namedSpaces)/\($0)") == ours }
    }

    /// The device and number of a file, symbolic links followed.
    private static func identity(_ path: String) -> [UInt64]? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return [UInt64(status.st_dev), UInt64(status.st_ino)]
    }
}

/// What folders hold.
enum FolderNames {
    /// The names in a folder but those that begin with a dot; none if there is no such folder.
    static func list(_ folder: String) -> [String] {
        guard let stream = unsafe opendir(folder) else { return [] }
        defer { _ = unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            // SAFETY: d_name is an array inside the entry that ends with a NUL; the entry lives until the next readdir.
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }
}
