private import CTun
private import Glibc

/// Waits for several descriptors at once (epoll, level-triggered), each known by a token that is never used again.
final class EventPoller {
    /// Descriptors that one call of ``wait(milliseconds:)`` reports at most.
    private static let batch = 32

    private let descriptor: Descriptor

    init() throws(SystemCallError) {
        descriptor = Descriptor(adopting: try checked("epoll_create1", epoll_create1(Int32(EPOLL_CLOEXEC))))
    }

    /// Readable while one of the descriptors is ready: a poller can watch another.
    var fileDescriptor: Int32 { descriptor.number }

    /// Watches a descriptor for input, and for room to write when `writes` says so.
    func watch(_ watched: Int32, token: UInt64, writes: Bool = false) throws(SystemCallError) {
        try control(EPOLL_CTL_ADD, watched, token, Self.events(reads: true, writes: writes))
    }

    /// Reports a descriptor once each time that input comes or its other end goes, whoever reads the input.
    func watchEdges(_ watched: Int32, token: UInt64) throws(SystemCallError) {
        let events = EPOLLIN.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        try control(EPOLL_CTL_ADD, watched, token, events)
    }

    /// Changes what a watched descriptor is watched for; that the other end is gone is reported in any case.
    func update(_ watched: Int32, token: UInt64, reads: Bool = true, writes: Bool) throws(SystemCallError) {
        try control(EPOLL_CTL_MOD, watched, token, Self.events(reads: reads, writes: writes))
    }

    /// Forgets a descriptor; must come before it is closed, for an open file with a duplicate stays watched.
    func forget(_ watched: Int32) {
        _ = epoll_ctl(descriptor.number, EPOLL_CTL_DEL, watched, nil)
    }

    /// The tokens of the descriptors that are ready; waits for one without limit.
    func wait() throws(SystemCallError) -> [UInt64] {
        var events = unsafe [epoll_event](repeating: epoll_event(), count: Self.batch)
        while true {
            let count = unsafe epoll_wait(descriptor.number, &events, Int32(Self.batch), -1)
            if count >= 0 { return unsafe events.prefix(Int(count)).map { unsafe $0.data.u64 } }
            let number = errno
            if number != EINTR { throw SystemCallError(call: "epoll_wait", errno: number) }
        }
    }

    private static func events(reads: Bool, writes: Bool) -> UInt32 {
        (reads ? EPOLLIN.rawValue : 0) | (writes ? EPOLLOUT.rawValue : 0)
    }

    private func control(
        _ operation: Int32, _ watched: Int32, _ token: UInt64, _ events: UInt32
    ) throws(SystemCallError) {
        var event = unsafe epoll_event()
        unsafe event.events = events
        unsafe event.data.u64 = token
        try checked("epoll_ctl", unsafe epoll_ctl(descriptor.number, operation, watched, &event))
    }
}

/// One alarm on the clock that also counts suspended time (timerfd, CLOCK_BOOTTIME).
final class AlarmClock {
    /// Readable once the alarm has gone off.
    let descriptor: Descriptor

    init() throws(SystemCallError) {
        descriptor = Descriptor(
            adopting: try checked(
                "timerfd_create", timerfd_create(CLOCK_BOOTTIME, Int32(TFD_NONBLOCK) | Int32(TFD_CLOEXEC))))
    }

    /// Nanoseconds of CLOCK_BOOTTIME.
    static var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Sets the alarm to a time in nanoseconds, or off; a time that has passed goes off at once.
    func set(_ time: UInt64?) throws(SystemCallError) {
        var value = itimerspec()
        if let time {
            // Zero would mean off, and seconds are signed.
            let (seconds, rest) = max(time, 1).quotientAndRemainder(dividingBy: 1_000_000_000)
            value.it_value = timespec(tv_sec: Int(clamping: seconds), tv_nsec: Int(rest))
        }
        try checked(
            "timerfd_settime", unsafe timerfd_settime(descriptor.number, Int32(TFD_TIMER_ABSTIME), &value, nil))
    }

    /// Takes the alarm's report, so that the descriptor is not readable any more.
    func acknowledge() {
        var count: UInt64 = 0
        _ = unsafe read(descriptor.number, &count, MemoryLayout<UInt64>.size)
    }
}

/// The signals that stop a session, read from a descriptor: nothing ever runs in a signal handler.
final class StopSignals {
    /// Readable while a signal waits.
    let descriptor: Descriptor

    /// Opens the descriptor; the signals must be blocked already.
    init() throws(SystemCallError) {
        var set = Self.set()
        descriptor = Descriptor(
            adopting: try checked(
                "signalfd", unsafe signalfd(-1, &set, Int32(SFD_NONBLOCK) | Int32(SFD_CLOEXEC))))
    }

    /// Blocks the signals in this thread and in every thread that it makes later, and ignores SIGPIPE.
    ///
    /// A signal that is blocked in one thread only would end the process in another, so this comes before any other
    /// thread is made.
    static func block() {
        var set = set()
        _ = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        _ = signal(SIGPIPE, SIG_IGN)
    }

    /// The names of the signals that wait, which are taken.
    func take() -> [String] {
        var names: [String] = []
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        while unsafe read(descriptor.number, &info, size) == size {
            switch Int32(bitPattern: info.ssi_signo) {
            case SIGINT: names.append("SIGINT")
            case SIGTERM: names.append("SIGTERM")
            default: names.append("SIGHUP")
            }
        }
        return names
    }

    private static func set() -> sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for number in [SIGINT, SIGTERM] { unsafe sigaddset(&set, number) }
        // nohup ignores SIGHUP so that what it starts outlives the terminal; a signalfd would deliver it all the same.
        if ctun_is_ignored(SIGHUP) == 0 { unsafe sigaddset(&set, SIGHUP) }
        return set
    }
}

/// Wakes a loop from another thread (eventfd).
final class Bell: Sendable {
    /// Readable once the bell was rung.
    let descriptor: Descriptor

    init() throws(SystemCallError) {
        descriptor = Descriptor(
            adopting: try checked("eventfd", eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))))
    }

    /// Wakes the loop; a bell that was rung already stays so.
    func ring() {
        var one: UInt64 = 1
        _ = unsafe write(descriptor.number, &one, MemoryLayout<UInt64>.size)
    }

    /// Makes the descriptor wait for the next ring.
    func silence() {
        var count: UInt64 = 0
        _ = unsafe read(descriptor.number, &count, MemoryLayout<UInt64>.size)
    }
}

/// The result of a C call that reports failure by -1 and errno.
@discardableResult
private func checked(_ call: String, _ result: Int32) throws(SystemCallError) -> Int32 {
    if result < 0 { throw SystemCallError(call: call, errno: errno) }
    return result
}
