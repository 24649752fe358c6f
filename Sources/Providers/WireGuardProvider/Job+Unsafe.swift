/// What lies in one slot of a ring of work, in a box that several threads hand round.
//
// SAFETY: a slot belongs to the holder of the read token until its ticket is taken, then to the thread that took it, then
// to the thread that finishes it; `TicketOffice` says who that is, and its mutex orders one after the other.
final class Job<Value: ~Copyable>: @unchecked Sendable {
    var value: Value

    init(_ value: consuming Value) {
        self.value = value
    }
}
