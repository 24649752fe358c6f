public import WireGuard

/// What decides a tunnel's settings and speaks for it inside of its sessions; it lives on the control thread.
///
/// Its messages travel as `ControlPacket` between the control addresses of both ends, and never touch the interface. Those
/// that come are checked already: they came through the session of the peer that is named, from that peer's control address.
///
/// The tunnel's call order: any method that takes an instant, then ``pollOutput()`` until nil, then ``nextTimeout`` again.
/// Every call holds up handshakes for as long as it takes, so none may wait for anything.
public protocol ControlPlane: AnyObject {
    /// The tunnel runs: its peers are those of the configuration, and outputs are obeyed from now on.
    func start(now: Instant)

    /// Handles a message of a peer.
    func handleMessage(_ message: [UInt8], from peer: PublicKey, now: Instant)

    /// A handshake with a peer was completed: messages to it arrive.
    ///
    /// It is repeated every two minutes for as long as the peer is there.
    func sessionUp(_ peer: PublicKey, now: Instant)

    /// A peer no longer answers handshakes, or its last session was given up.
    func sessionLost(_ peer: PublicKey, now: Instant)

    /// Somebody called ``ControlPlaneWaker/wake()``, once or several times since the last call.
    func handleWake(now: Instant)

    /// When ``handleTimeout(now:)`` is due; nil for never.
    var nextTimeout: Instant? { get }

    /// Does what is due.
    func handleTimeout(now: Instant)

    /// The next thing that the tunnel has to do; nil when there is none.
    func pollOutput() -> ControlPlaneOutput?
}

/// What a control plane has its tunnel do, in the order in which it is polled.
public enum ControlPlaneOutput: Sendable {
    /// Send a message to a peer; it waits for a session, and is dropped if none comes or the peer is unknown.
    case send([UInt8], to: PublicKey)
    /// Start a handshake with a peer that has no session.
    case connect(PublicKey)
    /// Change peers and allowed IPs of the live tunnel as `wg set` does: add, update, remove.
    ///
    /// Port and mark do not count, and endpoints have to be numeric. Sessions of peers that stay go on.
    case change(ControlSettings)
}

/// Wakes the control plane of a tunnel from any thread.
public struct ControlPlaneWaker: Sendable {
    let signal: @Sendable () -> Void

    /// Has ``ControlPlane/handleWake(now:)`` called soon; does nothing once the tunnel has stopped.
    public func wake() { signal() }
}
