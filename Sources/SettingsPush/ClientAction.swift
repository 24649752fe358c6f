/// What a client's driver has to do, in the order in which it is polled.
public enum ClientAction: Sendable, Hashable {
    /// Send a message to the gateway, inside of its session: ``ControlPacket/make(message:from:to:)`` makes the packet.
    case send([UInt8])
    /// Replace the network settings as a whole, and answer with ``ClientMachine/handleApplied(_:succeeded:now:)``.
    ///
    /// There is never a second one before that answer.
    case apply(id: UInt64, DesiredSettings)
    /// The tunnel may report that it is up.
    case startCompleted
    /// The tunnel does not start.
    case startFailed(StartFailure)
    /// The tunnel reasserts, or no longer does.
    case reasserting(Bool)
    /// The gateway wants the client to leave.
    case leave(GoAway)
    /// The lease is given back, or the gateway does not answer: the tunnel may go.
    case released
    /// Something for the log: one line a change, never one a message.
    case note(ClientNote)
}
