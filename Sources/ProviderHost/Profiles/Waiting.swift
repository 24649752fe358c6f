internal import Dispatch
internal import Synchronization

/// Waits on the main thread for what is asynchronous.
enum Waiting {
    /// Runs a task and waits for its end.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        let result = Once<Value>()
        Task.detached {
            do { result.set(.success(try await body())) } catch { result.set(.failure(error)) }
        }
        return try result.wait().get()
    }

    /// A result that comes once, from another thread.
    private final class Once<Value: Sendable>: Sendable {
        private let state = Mutex<Result<Value, any Error>>(.failure(CancellationError()))
        private let done = DispatchSemaphore(value: 0)

        func set(_ result: Result<Value, any Error>) {
            state.withLock { $0 = result }
            done.signal()
        }

        func wait() -> Result<Value, any Error> {
            done.wait()
            return state.withLock { $0 }
        }
    }

    /// Runs a task until it ends or the time is over.
    ///
    /// - Returns: What the task gave; nil when the time was over first.
    static func run<Value: Sendable>(
        seconds: Double, _ body: @escaping @Sendable () async throws -> Value
    ) throws -> Value? {
        try run {
            try await withThrowingTaskGroup(of: Value?.self) { group in
                group.addTask { try await body() }
                group.addTask {
                    try await Task.sleep(for: .seconds(seconds))
                    return nil
                }
                defer { group.cancelAll() }
                return try await group.next() ?? nil
            }
        }
    }
}
