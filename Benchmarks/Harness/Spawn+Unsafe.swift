import Glibc

/// posix_spawn(3) and waitpid(2), which Foundation's `Process` hides behind a run loop.
enum Spawn {
    /// How a program ended.
    enum Ending: Equatable {
        case status(Int32)
        case signal(Int32)
    }

    /// Starts a program that is searched in PATH, its output in two files and its input empty.
    ///
    /// It gets a process group of its own, so a Ctrl-C on the terminal reaches this program only.
    /// Returns the process or the errno value of the failure.
    static func start(_ arguments: [String], output: String, errors: String) -> Result<pid_t, SpawnError> {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, output, flags, 0o600)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, errors, flags, 0o600)

        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))

        var vector: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { unsafe vector.forEach { unsafe free($0) } }
        var process: pid_t = 0
        let error = unsafe posix_spawnp(&process, arguments[0], &actions, &attributes, &vector, environ)
        return error == 0 ? .success(process) : .failure(SpawnError(number: error))
    }

    /// The ending of a child, or nil while it runs.
    ///
    /// Call it no more after an ending.
    static func ending(of process: pid_t) -> Ending? {
        var status: Int32 = 0
        var result: pid_t
        repeat { result = unsafe waitpid(process, &status, WNOHANG) } while result < 0 && errno == EINTR
        guard result != 0 else { return nil }
        // A child that is not ours to wait for has ended as far as can be known.
        guard result > 0 else { return .status(-1) }
        let signal = status & 0x7f
        return signal == 0 ? .status((status >> 8) & 0xff) : .signal(signal)
    }
}

/// Why a program did not start.
struct SpawnError: Error {
    let number: Int32
    var text: String { unsafe String(cString: strerror(number)) }
}
