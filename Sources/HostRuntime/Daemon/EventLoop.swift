/// Waits for descriptors and points in time, and calls whoever is responsible for what came; one thread.
final class EventLoop {
    private let poller: EventPoller
    private let alarm: AlarmClock
    private var handlers: [UInt64: () -> Void] = [:]
    private var timers: [UInt64: (at: UInt64, handler: () -> Void)] = [:]
    private var nextToken: UInt64 = 1
    private let alarmToken: UInt64 = 0

    init() throws(SystemCallError) {
        poller = try EventPoller()
        alarm = try AlarmClock()
        try poller.watch(alarm.descriptor.number, token: alarmToken)
    }

    /// Calls `handler` whenever the descriptor is readable.
    ///
    /// - Returns: A token that is never given twice, for ``update(_:token:reads:writes:)`` and ``forget(_:token:)``.
    func watch(_ descriptor: Int32, handler: @escaping () -> Void) throws(SystemCallError) -> UInt64 {
        let token = takeToken()
        try poller.watch(descriptor, token: token)
        handlers[token] = handler
        return token
    }

    /// Changes what a descriptor is watched for.
    func update(_ descriptor: Int32, token: UInt64, reads: Bool, writes: Bool) throws(SystemCallError) {
        try poller.update(descriptor, token: token, reads: reads, writes: writes)
    }

    /// Forgets a descriptor; must come before it is closed.
    func forget(_ descriptor: Int32, token: UInt64) {
        poller.forget(descriptor)
        handlers[token] = nil
    }

    /// Calls `handler` once, in `seconds` from now.
    ///
    /// - Returns: A token for ``cancel(_:)``.
    @discardableResult
    func schedule(after seconds: Double, handler: @escaping () -> Void) -> UInt64 {
        let token = takeToken()
        timers[token] = (AlarmClock.now + UInt64(seconds * 1e9), handler)
        return token
    }

    /// Takes a call back that has not come yet.
    func cancel(_ token: UInt64) { timers[token] = nil }

    /// Waits once and deals with everything that is ready.
    func turn() throws(SystemCallError) {
        try alarm.set(timers.values.map(\.at).min())
        for token in try poller.wait() {
            if token == alarmToken { alarm.acknowledge() }
            handlers[token]?()
        }
        let now = AlarmClock.now
        for (token, timer) in timers where timer.at <= now {
            timers[token] = nil
            timer.handler()
        }
    }

    private func takeToken() -> UInt64 {
        defer { nextToken += 1 }
        return nextToken
    }
}
