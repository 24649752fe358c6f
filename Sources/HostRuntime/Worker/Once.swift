import Synchronization

/// A completion handler that counts once.
final class Once<Value: Sendable>: Sendable {
    private let action: @Sendable (Value) -> Void
    private let onRepeat: @Sendable () -> Void
    private let isSpent = Atomic<Bool>(false)

    /// - Parameters:
    ///   - action: What the first call does.
    ///   - onRepeat: What every later call does instead.
    init(_ action: @escaping @Sendable (Value) -> Void, onRepeat: @escaping @Sendable () -> Void) {
        self.action = action
        self.onRepeat = onRepeat
    }

    func callAsFunction(_ value: Value) {
        if isSpent.exchange(true, ordering: .acquiringAndReleasing) { onRepeat() } else { action(value) }
    }
}
