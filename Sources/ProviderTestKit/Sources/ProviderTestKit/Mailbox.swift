internal import Synchronization

/// A queue between a test and the code under test: one side puts, the other waits.
final class Mailbox<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var waiters: [(number: UInt64, limit: Int, continuation: CheckedContinuation<[Element], Never>)] = []
        var nextNumber: UInt64 = 0
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Adds elements; dropped once the mailbox is closed.
    func put(_ elements: [Element]) {
        guard !elements.isEmpty else { return }
        state.withLock { state in
            guard !state.isClosed else { return }
            state.elements += elements
            while !state.elements.isEmpty, !state.waiters.isEmpty {
                let waiter = state.waiters.removeFirst()
                waiter.continuation.resume(returning: Self.take(waiter.limit, of: &state.elements))
            }
        }
    }

    /// Waits for elements and takes up to `limit` of them; empty once the mailbox is closed or the task is cancelled.
    func take(_ limit: Int) async -> [Element] {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    if !state.elements.isEmpty {
                        continuation.resume(returning: Self.take(limit, of: &state.elements))
                    } else if state.isClosed {
                        continuation.resume(returning: [])
                    } else {
                        state.waiters.append((number, limit, continuation))
                    }
                }
                // The handler below may have run before the waiter was there.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    /// Ends all waiting, now and later; elements that are queued can still be taken.
    func close() {
        state.withLock { state in
            state.isClosed = true
            for waiter in state.waiters { waiter.continuation.resume(returning: []) }
            state.waiters = []
        }
    }

    private func cancel(_ number: UInt64) {
        state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return }
            state.waiters.remove(at: index).continuation.resume(returning: [])
        }
    }

    private static func take(_ limit: Int, of elements: inout [Element]) -> [Element] {
        let taken = Array(elements.prefix(limit))
        elements.removeFirst(taken.count)
        return taken
    }
}
