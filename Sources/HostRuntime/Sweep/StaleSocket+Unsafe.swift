private import Glibc

/// A control socket whose process is gone.
struct StaleSocket {
    private static let folder = "/var/run/wireguard"
    private static let suffix = ".sock"

    let path: String

    /// The sockets that nobody serves, and that carry a name of ours for which `isMeant` holds.
    ///
    /// Other programs keep their sockets here too, so only names that we choose by ourselves count. The start of a tunnel
    /// with a name of its own replaces that one's socket.
    static func all(_ isMeant: (String) -> Bool) -> [StaleSocket] {
        guard let stream = unsafe opendir(folder) else { return [] }
        defer { _ = unsafe closedir(stream) }
        var found: [StaleSocket] = []
        while let entry = unsafe readdir(stream) {
            // SAFETY: d_name is an array inside the entry that ends with a NUL; the entry lives until the next readdir.
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasSuffix(suffix) else { continue }
            let interface = String(name.dropLast(suffix.count))
            let socket = StaleSocket(path: "\(folder)/\(name)")
            if InterfaceName.isAutomatic(interface), isMeant(interface), socket.isRefused { found.append(socket) }
        }
        return found.sorted { $0.path < $1.path }
    }

    /// Removes the file; returns why not, as a sentence.
    func remove() -> String? {
        guard unsafe unlink(path) != 0, errno != ENOENT else { return nil }
        return "The control socket \(path) could not be removed: error \(errno)."
    }

    /// Whether nobody listens.
    private var isRefused: Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < capacity else { return false }
        let bytes = Array(path.utf8)
        // SAFETY: fewer bytes than the array has are copied into it; the rest stays zero.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // SAFETY: the pointer is to a sockaddr_un, whose size is passed.
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return result != 0 && errno == ECONNREFUSED
    }
}
