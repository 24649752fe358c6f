import Foundation

/// A system call at which a manager is killed: one thread's call of a kind, by its number, as strace counts them.
struct CrashPoint: CustomStringConvertible {
    /// The threads of a manager that do its work.
    enum Thread: String, CaseIterable {
        /// The manager's own loop.
        case loop
        /// That of the session, from its very first call.
        case session
    }

    /// Calls for memory, and those that wait or set a clock: how many there are varies, and a kill at one leaves what a kill
    /// at the next call leaves.
    private static let unsteady: Set = [
        "brk", "mmap", "munmap", "mprotect", "mremap", "madvise", "futex", "epoll_wait", "poll", "restart_syscall",
        "timerfd_settime", "rt_sigprocmask", "sched_yield", "getrandom",
    ]

    let thread: Thread
    let call: String
    let number: Int
    /// When it was made in the run that was counted, in seconds since 1970.
    let time: Double

    var description: String { "\(thread.rawValue): \(call) \(number)" }

    /// The points of a trace that `strace -ttt` wrote, in their order.
    static func all(of thread: Thread, in trace: String) -> [CrashPoint] {
        var counts: [Substring: Int] = [:]
        return trace.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", maxSplits: 1)
            guard words.count == 2, let time = Double(words[0]), let end = words[1].firstIndex(of: "(") else {
                return nil
            }
            let call = words[1][..<end]
            guard call.allSatisfy({ $0.isLowercase || $0.isNumber || $0 == "_" }),
                !unsteady.contains(String(call))
            else { return nil }
            counts[call, default: 0] += 1
            return CrashPoint(thread: thread, call: String(call), number: counts[call, default: 0], time: time)
        }
    }
}
