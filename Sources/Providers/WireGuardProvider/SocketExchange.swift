package import PacketPath
import Synchronization
import WireGuard

/// The outer sockets by family.
package struct Sockets: Sendable {
    package let ipv4: UDPSocket?
    package let ipv6: UDPSocket?

    package init(ipv4: UDPSocket?, ipv6: UDPSocket?) {
        self.ipv4 = ipv4
        self.ipv6 = ipv6
    }

    /// No socket: what is to be sent is dropped.
    static let none = Sockets(ipv4: nil, ipv6: nil)

    /// The port that the sockets are bound to, nil without sockets.
    var port: UInt16? { ipv4?.port ?? ipv6?.port }

    /// The socket that reaches an endpoint, nil where there is none of its family.
    func socket(for endpoint: Endpoint) -> UDPSocket? { endpoint.address.isIPv4 ? ipv4 : ipv6 }
}

/// The sockets of a running engine, which are exchanged while its data threads use them.
///
/// The data threads of each direction work with a view of their own and renew it between two batches; old sockets close when the last view
/// was renewed.
final class SocketExchange: Sendable {
    /// The data threads that hold views.
    enum User { case transmit, receive }

    /// What one thread works with.
    struct View {
        var sockets = Sockets.none
        var generation = 0
    }

    private let current: Mutex<View>
    private let newest = Atomic<Int>(1)
    private let seenByTransmit = Atomic<Int>(0)
    private let seenByReceive = Atomic<Int>(0)

    init(_ sockets: Sockets) {
        current = Mutex(View(sockets: sockets, generation: 1))
    }

    /// The sockets for a single use.
    var sockets: Sockets { current.withLock { $0.sockets } }

    /// Puts others in their place.
    func put(_ sockets: Sockets) {
        current.withLock { view in
            view = View(sockets: sockets, generation: view.generation + 1)
            newest.store(view.generation, ordering: .releasing)
        }
    }

    /// Whether a view is not the newest.
    func isNewer(than view: View) -> Bool { view.generation != newest.load(ordering: .acquiring) }

    /// Renews a thread's view; true if it changed.
    @inline(__always)
    func renew(_ view: inout View, for user: User) -> Bool {
        guard view.generation != newest.load(ordering: .acquiring) else { return false }
        view = current.withLock { $0 }
        switch user {
        case .transmit: seenByTransmit.store(view.generation, ordering: .releasing)
        case .receive: seenByReceive.store(view.generation, ordering: .releasing)
        }
        return true
    }

    /// Whether both data threads work with the newest sockets, so that nobody holds older ones.
    var isSettled: Bool {
        let generation = newest.load(ordering: .acquiring)
        return seenByTransmit.load(ordering: .acquiring) == generation
            && seenByReceive.load(ordering: .acquiring) == generation
    }
}
