internal import CTun

/// Tells that the machine's routes have changed (rtnetlink(7)), and which way a datagram takes by them.
///
/// A datagram that is sent from a ``LocalAddress`` leaves by its interface, whatever the routes say. Who wants to follow
/// them has to look: that is what the kernel's own WireGuard does for each packet, and we do after a change.
public final class RouteWatch: Sendable {
    /// Readable once there were changes.
    public let descriptor: Int32

    /// Begins to watch.
    public init() throws(PathError) {
        descriptor = ctun_route_watch()
        guard descriptor >= 0 else {
            throw PathError("cannot watch the routes", code: descriptor, advice: "raise the limit of open files")
        }
    }

    deinit { ctun_close(descriptor) }

    /// Takes the notices of the changes; whether there were any.
    public func takeChanges() -> Bool { ctun_route_take_changes(descriptor) }

    /// Whether a datagram from this address leaves by its interface of its own accord, with the socket's mark.
    public static func leads(to destination: PeerAddress, from source: LocalAddress, mark: UInt32) -> Bool {
        System.routeInterface(to: destination, from: source, mark: mark) == Int32(bitPattern: source.interface)
    }
}
