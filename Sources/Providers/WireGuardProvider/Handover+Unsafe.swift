/// Carries a noncopyable value onto the thread that will own it.
//
// SAFETY: filled by `init` before the thread is made, emptied once by that thread; the start of a thread orders the two.
package final class Handover<Value: ~Copyable>: @unchecked Sendable {
    private var value: Value?

    package init(_ value: consuming Value) {
        self.value = consume value
    }

    /// Takes the value; nil after the first time.
    ///
    /// Only the thread that the value was made for calls it.
    package func take() -> Value? {
        value.take()
    }
}
