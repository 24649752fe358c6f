/// Who may do what with the slots of a ring that several threads fill, work on, and finish in order.
///
/// A thread takes the next ticket and works on its slot, while others take later tickets and work on theirs. A slot whose
/// work is done is ready; the ready slots at the head of the ring are finished strictly in the order of their tickets,
/// by the thread that made the oldest one ready. Nobody waits for another's work.
///
/// ```
///  free ──take──▶ working ──complete──▶ ready ──finished──▶ free
///                                         head only, one at a time
/// ```
/// Pure: the owner serialises the calls.
struct TicketRing: Sendable {
    /// The number of slots; ticket t uses slot t modulo this.
    let capacity: Int
    private var head: UInt64 = 0
    private var tail: UInt64 = 0
    /// A bit for each slot that is ready.
    private var ready: UInt64 = 0
    private var isFinishing: Bool = false
    /// Tickets that may be out when the waiting thread is to be woken, nil when none waits.
    private var awaited: Int?

    /// A ring of 2 to 64 slots.
    init(capacity: Int) {
        precondition((2...64).contains(capacity), "a ring has 2 to 64 slots")
        self.capacity = capacity
    }

    /// Tickets that are taken and not finished.
    var outstanding: Int { Int(tail &- head) }

    /// The slot of the next ticket, which may be filled before the ticket is taken; meaningful when the ring is not full.
    var nextSlot: Int { slot(of: tail) }

    /// Takes the next ticket.
    ///
    /// - Precondition: The ring is not full, and only one thread takes tickets at a time.
    mutating func take() {
        precondition(outstanding < capacity, "every slot is in use")
        tail &+= 1
    }

    /// Whether so many tickets or fewer are out; if not, some later `finished` says that they are.
    mutating func isAtMost(_ limit: Int) -> Bool {
        guard outstanding > limit else { return true }
        awaited = limit
        return false
    }

    /// Notes that the work on a slot is done.
    ///
    /// - Returns: The slot that the caller must finish now, nil when an older one is not ready or another thread finishes.
    mutating func complete(_ slot: Int) -> Int? {
        ready |= 1 << UInt64(slot)
        guard !isFinishing, let next = readyHead else { return nil }
        isFinishing = true
        return next
    }

    /// Frees the oldest slot, which the caller has finished.
    ///
    /// - Returns: The slot that the caller must finish next, nil when it is done; and whether to wake the waiting thread.
    mutating func finished() -> (next: Int?, wakes: Bool) {
        precondition(isFinishing && readyHead != nil, "nothing was to be finished")
        ready &= ~(1 << UInt64(slot(of: head)))
        head &+= 1
        let next = readyHead
        isFinishing = next != nil
        guard let limit = awaited, outstanding <= limit else { return (next, false) }
        awaited = nil
        return (next, true)
    }

    private func slot(of ticket: UInt64) -> Int { Int(ticket % UInt64(capacity)) }

    private var readyHead: Int? {
        let slot = slot(of: head)
        return outstanding > 0 && ready >> UInt64(slot) & 1 != 0 ? slot : nil
    }
}
