import Synchronization

/// One connection to the control socket of a tunnel, through which tools of the tunnel's protocol talk to its provider.
///
/// The host accepts it and ends it when the provider owes its client an answer and shows no sign of life for a second, so
/// that no tool ever hangs on a provider.
public final class ControlConnection: Sendable {
    /// What a provider says about a connection.
    public enum Activity: String, Sendable, Codable, CaseIterable {
        /// Everything that the client sent is answered, or more of it must come first.
        case waiting
        /// An answer is being worked on; to be said again at least once per second.
        case working
        /// The connection is over.
        case closed
    }

    /// The stream socket, blocking; valid until ``close()``.
    public let fileDescriptor: Int32

    private let tell: @Sendable (Activity) -> Void
    private let isClosed = Atomic<Bool>(false)

    /// Wraps a descriptor that belongs to the caller.
    ///
    /// - Parameters:
    ///   - fileDescriptor: The socket.
    ///   - tell: Learns what the provider says; on `closed`, which comes once, it closes the socket.
    public init(fileDescriptor: Int32, tell: @escaping @Sendable (Activity) -> Void) {
        self.fileDescriptor = fileDescriptor
        self.tell = tell
    }

    deinit { close() }

    /// Tells that the provider waits for the client.
    public func noteWaiting() { tell(.waiting) }

    /// Tells that the provider works on an answer.
    public func noteWorking() { tell(.working) }

    /// Ends the connection; later calls do nothing.
    public func close() {
        if !isClosed.exchange(true, ordering: .acquiringAndReleasing) { tell(.closed) }
    }
}
