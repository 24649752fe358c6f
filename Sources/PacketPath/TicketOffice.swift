import Synchronization

/// Lets several threads work on the slots of a ring side by side and finish them in order.
///
/// ```
/// with the read token held:    wait(outstandingAtMost: capacity - 1); fill nextSlot; take()
/// without it:                  work on the slot; complete(slot) { finish($0) }
/// ```
/// A mutex is held for the moves of a ``TicketRing`` only, a few times per slot, never during work or a system call.
public final class TicketOffice: Sendable {
    /// The number of slots.
    public let capacity: Int
    private let ring: Mutex<TicketRing>
    private let room: EventDescriptor
    private let handovers = Atomic<UInt64>(0)

    /// A ring of 2 to 64 slots.
    public init(capacity: Int) throws(PathError) {
        self.capacity = capacity
        ring = Mutex(TicketRing(capacity: capacity))
        room = try EventDescriptor()
    }

    /// Waits until so many tickets or fewer are out; the holder of the read token calls it.
    ///
    /// With the capacity less one there is room for a ticket, with 0 everything before is finished.
    public func wait(outstandingAtMost limit: Int) {
        while !ring.withLock({ $0.isAtMost(limit) }) {
            var poller = Poller()
            poller.add(room.descriptor)
            _ = poller.wait(nanoseconds: nil)
            room.clear()
        }
    }

    /// The slot of the next ticket; the holder of the read token fills it before it takes the ticket.
    public var nextSlot: Int {
        let slot = ring.withLock { $0.nextSlot }
        passOn()
        return slot
    }

    /// Takes the ticket of the slot that was filled; with the read token still held.
    public func take() { ring.withLock { $0.take() } }

    /// Says that the work on a slot is done, and finishes what is ready from the oldest ticket on, unless another does.
    public func complete(_ slot: Int, _ finish: (Int) -> Void) {
        passOn()
        var next = ring.withLock { $0.complete(slot) }
        while let slot = next {
            passOn()
            finish(slot)
            passOn()
            let freed = ring.withLock { $0.finished() }
            if freed.wakes { room.signal() }
            next = freed.next
        }
    }

    /// Orders what a thread did with a slot before what the next one does.
    ///
    /// The mutex does so too, but ThreadSanitizer does not see it where the mutex is contended (Scripts/tsan.supp).
    private func passOn() { handovers.add(1, ordering: .acquiringAndReleasing) }
}
