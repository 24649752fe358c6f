private import Dispatch
internal import ProviderKit
private import Synchronization

/// Hands reports to a receiver on a thread of its own, so that a receiver that blocks (a full pipe) does not block the
/// session.
///
/// While the receiver is behind by ``limit`` reports, lines of the log are dropped and counted; changes of status wait.
final class Reporter: Sendable {
    /// How many lines wait at most.
    static let limit = 1024
    /// How long the end waits for a receiver that is behind.
    private static let patience = DispatchTimeInterval.seconds(1)

    private struct State {
        var waiting = 0
        var dropped = 0
    }

    private let queue = DispatchQueue(label: "org.providerhost.report")
    private let group = DispatchGroup()
    private let state = Mutex(State())
    private let receive: @Sendable (SessionReport) -> Void

    /// Makes a reporter whose reports arrive one at a time, in order.
    init(_ receive: @escaping @Sendable (SessionReport) -> Void) { self.receive = receive }

    /// Hands over a report without waiting.
    func send(_ report: SessionReport) {
        let dropped: Int? = state.withLock { state in
            if case .log = report, state.waiting >= Self.limit {
                state.dropped += 1
                return nil
            }
            state.waiting += 1
            defer { state.dropped = 0 }
            return state.dropped
        }
        guard let dropped else { return }
        queue.async(group: group) { [self] in
            if dropped > 0 {
                receive(.log(.warning, "\(dropped) lines of the log were dropped: the output is too slow."))
            }
            receive(report)
            state.withLock { $0.waiting -= 1 }
        }
    }

    /// Waits until everything was received, for ``patience`` at most.
    func finish() { _ = group.wait(timeout: .now() + Self.patience) }
}
