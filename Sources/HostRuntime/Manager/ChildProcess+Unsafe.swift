private import CTun
internal import Session

/// A process that the manager made: known by its pidfd, killed with the object if it still runs.
final class ChildProcess: SessionWorker {
    private var process: ctun_process
    private let pidfd: Descriptor
    /// Whether nothing that the process started may outlive it.
    private let ownsGroup: Bool
    private var end: WorkerExit?

    /// The executable of this process, whatever became of its file.
    static let ownExecutable = "/proc/self/exe"

    /// Makes a worker that finds `channel` as its descriptor 3.
    ///
    /// The worker is killed when the calling thread ends.
    convenience init(worker executable: String, channel: Descriptor) throws(SystemCallError) {
        var process = ctun_process()
        try SystemCallError.check(
            "the start of \(executable)", unsafe ctun_spawn_worker(executable, channel.number, &process))
        self.init(process, ownsGroup: true)
    }

    /// Runs a command by `/bin/sh -c`.
    convenience init(shell command: String) throws(SystemCallError) {
        var process = ctun_process()
        try SystemCallError.check("the start of /bin/sh", unsafe ctun_spawn_shell(command, &process))
        self.init(process, ownsGroup: false)
    }

    private init(_ process: ctun_process, ownsGroup: Bool) {
        self.process = process
        self.ownsGroup = ownsGroup
        pidfd = Descriptor(adopting: process.pidfd)
    }

    deinit {
        guard end == nil else { return }
        kill()
        // What is killed ends at once, unless the kernel holds it; nothing is left of it then but a number.
        _ = try? ChannelSystem.waitToRead(pidfd.number, milliseconds: 1000)
        _ = collect()
    }

    /// Readable once the process has ended.
    var exitDescriptor: Int32 { pidfd.number }

    /// How the process ended, nil while it runs.
    func collect() -> WorkerExit? {
        if let end { return end }
        var status: Int32 = 0
        switch unsafe ctun_process_collect(&process, ownsGroup, &status) {
        case 0: return nil
        case 1: end = status < 0 ? .killed(signal: -status) : .exited(status)
        default: end = .exited(-1)
        }
        return end
    }

    /// Kills the process and its group; its end is still to be collected.
    func kill() {
        guard end == nil else { return }
        _ = unsafe ctun_process_kill(&process)
    }
}
