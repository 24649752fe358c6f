private import Foundation
private import PacketPath
internal import Synchronization

/// Waits for a device on behalf of suspended tasks: one thread, made when the first task waits.
final class ReadinessThread: Sendable {
    private struct State {
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var nextNumber: UInt64 = 0
        var isRunning = false
        var isClosed = false
    }

    private let device: Descriptor
    private let event: EventDescriptor
    private let state = Mutex(State())

    /// - Throws: When the process has no descriptor left.
    init(waitingFor device: Descriptor) throws {
        self.device = device
        event = try EventDescriptor()
    }

    /// Suspends until the device is readable or broken, all are woken, or the task is cancelled.
    func wait() async {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                add(continuation, number)
                // The handler below may have run before the waiter was there.
                if Task.isCancelled { wake(number) }
            }
        } onCancel: {
            wake(number)
        }
    }

    /// Ends every wait that goes on now.
    func wakeAll() {
        let waiters = state.withLock { state in
            defer { state.waiters = [:] }
            return state.waiters.values.map { $0 }
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Ends every wait, now and later, and the thread.
    func close() {
        state.withLock { $0.isClosed = true }
        wakeAll()
        event.signal()
    }

    private func add(_ waiter: CheckedContinuation<Void, Never>, _ number: UInt64) {
        let (isClosed, mustStart) = state.withLock { state in
            if state.isClosed { return (true, false) }
            state.waiters[number] = waiter
            defer { state.isRunning = true }
            return (false, !state.isRunning)
        }
        if isClosed { return waiter.resume() }
        if mustStart {
            let thread = Thread { [self] in run() }
            thread.name = "packet-flow"
            thread.start()
        } else {
            event.signal()
        }
    }

    private func wake(_ number: UInt64) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
        waiter?.resume()
    }

    private func run() {
        var poller = Poller()
        let eventPlace = poller.add(event.descriptor)
        let devicePlace = poller.add(-1)
        while true {
            let (isClosed, isWanted) = state.withLock { ($0.isClosed, !$0.waiters.isEmpty) }
            if isClosed { return }
            // A device that nobody waits for is left out: its packets, or its end, would spin this loop.
            poller.replace(isWanted ? device.number : -1, at: devicePlace)
            guard poller.wait(nanoseconds: nil) else { continue }
            if !poller.ready(eventPlace).isEmpty { event.clear() }
            if !poller.ready(devicePlace).isEmpty { wakeAll() }
        }
    }
}
