private import CTun
private import Glibc
internal import ProviderKit

/// The listening socket through which tools reach the provider of one tunnel: `/var/run/DIRECTORY/INTERFACE.sock`.
final class ControlSocket {
    /// How long a socket that another program serves is looked at again: one that is ending removes its own in this time.
    private static let patience: UInt64 = 1_000_000_000

    let path: String
    private let listener: Descriptor
    private let watch: Descriptor
    private let identity: ctun_file_identity

    /// Listens; a file that a dead program left behind is replaced.
    ///
    /// - Parameters:
    ///   - directory: One folder name.
    ///   - interface: The name of the interface.
    ///   - inherited: A listening socket that the caller was given for this path; nil to make one.
    /// - Throws: ``InterfaceError``; nothing is left then.
    init(directory: String, interface: String, inherited: Descriptor? = nil) throws(InterfaceError) {
        path = "/var/run/\(directory)/\(interface).sock"
        if let inherited {
            try Self.check(ctun_control_adopt(inherited.number), path)
            listener = inherited
        } else {
            try Self.check(unsafe ctun_make_directory("/var/run/\(directory)"), path)
            listener = try Self.listen(path)
        }
        do throws(InterfaceError) {
            var found = ctun_file_identity()
            try Self.check(unsafe ctun_file_identify(path, &found), path)
            identity = found
            watch = Descriptor(adopting: try Self.check(unsafe ctun_file_watch(path), path))
        } catch {
            unsafe unlink(path)
            throw error
        }
    }

    /// Readable when a client waits to be accepted.
    var listenDescriptor: Int32 { listener.number }
    /// Readable when ``isGone()`` may have become true.
    var watchDescriptor: Int32 { watch.number }

    /// Whether somebody removed or replaced the file; takes what ``watchDescriptor`` reported.
    func isGone() -> Bool {
        ctun_file_watch_clear(watch.number)
        return !isOurs
    }

    /// The next connection, nil when none waits.
    func accept() -> Descriptor? {
        let descriptor = ctun_control_accept(listener.number)
        return descriptor < 0 ? nil : Descriptor(adopting: descriptor)
    }

    /// Removes the file and then stops to listen, so that the next program of this name finds either all or nothing.
    func remove() {
        if isOurs { unsafe unlink(path) }
        listener.close()
        watch.close()
    }

    private var isOurs: Bool {
        var found = ctun_file_identity()
        return unsafe ctun_file_identify(path, &found) == 0 && found.inode == identity.inode
            && found.device == identity.device
    }

    private static func listen(_ path: String) throws(InterfaceError) -> Descriptor {
        let deadline = AlarmClock.now + patience
        while true {
            let result = unsafe ctun_control_listen(path)
            guard result == -EADDRINUSE else { return Descriptor(adopting: try check(result, path)) }
            switch unsafe ctun_control_probe(path) {
            case -ECONNREFUSED: unsafe unlink(path)
            case -ENOENT: break
            default:
                guard AlarmClock.now < deadline else {
                    throw InterfaceError(
                        .controlSocketTaken, cause: "Another program serves the control socket \(path).")
                }
                usleep(20_000)
            }
        }
    }

    @discardableResult
    private static func check(_ result: Int32, _ path: String) throws(InterfaceError) -> Int32 {
        guard result < 0 else { return result }
        throw InterfaceError(
            .controlSocketFailed,
            cause: "The control socket \(path) could not be made: \(ChannelSystem.text(of: -result)).")
    }
}
