internal import CTun

/// A thread of its own, named, with every signal blocked: a data path is no task of the cooperative pool.
public final class DataThread: Sendable {
    private let handle: UInt64

    /// Starts `body`; the thread ends with it.
    ///
    /// - Parameters:
    ///   - name: At most 15 bytes, as `ps -L` shows them.
    ///   - body: The work.
    /// - Throws: ``PathError`` when the system gives no thread.
    public init(_ name: String, _ body: @escaping @Sendable () -> Void) throws(PathError) {
        let box = unsafe Unmanaged.passRetained(Body(body))
        var handle: UInt64 = 0
        let status = unsafe ctun_thread_start(
            name,
            { argument in
                // SAFETY: the argument is the box that `init` retained for this thread.
                guard let argument = unsafe argument else { return }
                unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
            }, box.toOpaque(), &handle)
        guard status == 0 else {
            unsafe box.release()
            throw PathError("cannot start the thread \(name)", code: status, advice: "raise the limit of processes")
        }
        self.handle = handle
    }

    /// Waits for the end of the thread; call it once.
    public func join() { ctun_thread_join(handle) }

    /// Lets the thread end by itself; instead of ``join()``.
    public func detach() { ctun_thread_detach(handle) }

    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
