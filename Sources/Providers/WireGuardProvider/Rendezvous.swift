import PacketPath
import Synchronization

/// A value that one thread gives once and another waits for.
final class Rendezvous<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let event: EventDescriptor

    /// - Throws: ``PathError`` when the process has no descriptor left.
    init() throws(PathError) { event = try EventDescriptor() }

    /// Gives the value.
    func fulfil(_ value: Value) {
        self.value.withLock { $0 = value }
        event.signal()
    }

    /// Waits for the value.
    func wait() -> Value {
        var poller = Poller()
        poller.add(event.descriptor)
        while true {
            if let value = value.withLock({ $0 }) { return value }
            _ = poller.wait(nanoseconds: nil)
        }
    }
}
