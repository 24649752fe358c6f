/// How long each call into a provider may take.
///
/// A missed `load`, `start` or `stop` ends the worker process. A missed `message` or `sleep` does not: providers that
/// never answer a message are common, and their tunnels work.
public struct Deadlines: Sendable, Equatable {
    /// From the start of the worker process until its module is loaded.
    public var load: Duration
    /// From `startTunnel` until its completion.
    public var start: Duration
    /// From `stopTunnel` until its completion.
    public var stop: Duration
    /// From an app message until its reply; then the app gets no reply.
    public var message: Duration
    /// From `sleep` until its completion; then the machine sleeps anyway.
    public var sleep: Duration
    /// How long a provider may stay reasserting; a tunnel that is down for longer is ended, so that its owner learns.
    public var reasserting: Duration

    /// Makes the documented deadlines: 5, 60, 20, 10, 10 and 300 seconds.
    public init() {
        load = .seconds(5)
        start = .seconds(60)
        stop = .seconds(20)
        message = .seconds(10)
        sleep = .seconds(10)
        reasserting = .seconds(300)
    }
}

/// When a worker that died while the tunnel was up gets a successor.
public struct RestartPolicy: Sendable, Equatable {
    /// The wait after the first failure; it doubles with every further one.
    public var firstDelay: Duration
    /// The longest wait.
    public var longestDelay: Duration
    /// A worker that was up for this long clears the count of failures.
    public var resetAfter: Duration
    /// So many failures in a row end the session; the death that began the row is the first.
    public var failureLimit: Int

    /// Makes the documented policy: waits of 1, 2, 4 seconds and so on up to 60, reset after 60, four failures.
    public init() {
        firstDelay = .seconds(1)
        longestDelay = .seconds(60)
        resetAfter = .seconds(60)
        failureLimit = 4
    }

    /// The wait after `failures` failures in a row, at least one.
    func delay(afterFailures failures: Int) -> Duration {
        var delay = firstDelay
        for _ in 1..<max(failures, 1) where delay < longestDelay { delay = delay * 2 }
        return min(delay, longestDelay)
    }
}
