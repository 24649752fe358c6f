private import Glibc

/// Notices that files, or what folders hold, become others (inotify).
final class FileWatch {
    /// Readable when something has changed.
    let descriptor: Descriptor

    /// Makes a watch of nothing.
    ///
    /// - Throws: ``SystemCallError`` when the process or the user has no descriptor left for it.
    init() throws(SystemCallError) {
        let number = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard number >= 0 else { throw SystemCallError(call: "inotify_init1", errno: errno) }
        descriptor = Descriptor(adopting: number)
    }

    /// Watches what is there of `paths`, symbolic links followed; what is watched already stays watched once.
    func watch(_ paths: [String]) {
        let contents = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO
        let events = UInt32(contents | IN_DELETE_SELF | IN_MOVE_SELF)
        for path in paths { _ = unsafe inotify_add_watch(descriptor.number, path, events) }
    }

    /// Takes what was reported; what it says does not matter.
    func drain() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while unsafe read(descriptor.number, &buffer, buffer.count) > 0 {}
    }
}
