import Synchronization

/// A file descriptor that is closed when the last reference to it goes, unless it was released before.
public final class Descriptor: Sendable {
    private static let none: Int32 = -1
    private let value: Atomic<Int32>

    /// Takes over an open descriptor.
    public init(adopting descriptor: Int32) {
        value = Atomic(descriptor)
    }

    deinit { close() }

    /// The number, for system calls while this object lives; -1 once it was closed or released.
    public var number: Int32 { value.load(ordering: .acquiring) }

    /// Gives the descriptor away: the caller closes it from now on.
    ///
    /// - Returns: The number, -1 when it was closed or released before.
    public func release() -> Int32 { value.exchange(Self.none, ordering: .acquiringAndReleasing) }

    /// Closes the descriptor now.
    public func close() {
        let number = release()
        if number >= 0 { ChannelSystem.close(number) }
    }

    /// A second descriptor for the same open file, close-on-exec.
    ///
    /// - Throws: ``ChannelError``; `system` when the process has no descriptor left.
    public func duplicate() throws(ChannelError) -> Descriptor {
        Descriptor(adopting: try ChannelSystem.duplicate(number))
    }
}
