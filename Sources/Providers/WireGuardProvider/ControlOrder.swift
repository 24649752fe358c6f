import Synchronization
import WireGuard

/// What other threads want of the control loop, which alone owns the `Device`; a reply of nil says that the engine stopped.
enum ControlOrder: Sendable {
    /// Which peers there are, and our private key.
    case list(@Sendable (Listing?) -> Void)
    /// What these peers are like; those that went meanwhile are left out.
    case describe(ArraySlice<PeerIndex>, @Sendable ([PeerStatus]?) -> Void)
    /// Change this; names of endpoints are resolved already.
    case apply(ControlSettings, [PublicKey: Endpoint], @Sendable (Void?) -> Void)
    /// The name of a peer's endpoint was looked up: its addresses, in the order in which they are tried.
    case found([Endpoint], of: PublicKey)
    /// The interface is up, or down.
    case link(isUp: Bool)

    /// The answer to ``list(_:)``.
    struct Listing: Sendable {
        let privateKey: PrivateKey?
        let peers: [PeerIndex]
    }

    /// Tells whoever waits that nothing will come.
    func abandon() {
        switch self {
        case .list(let reply): reply(nil)
        case .describe(_, let reply): reply(nil)
        case .apply(_, _, let reply): reply(nil)
        case .found, .link: break
        }
    }
}

extension Engine {
    /// The peers and our private key; nil once the engine has stopped.
    func list() -> ControlOrder.Listing? { wait { .list($0) } }

    /// The status of these peers; nil once the engine has stopped.
    func describe(_ peers: ArraySlice<PeerIndex>) -> [PeerStatus]? { wait { .describe(peers, $0) } }

    /// Applies settings; false once the engine has stopped.
    func apply(_ settings: ControlSettings, endpoints: [PublicKey: Endpoint]) -> Bool {
        wait { .apply(settings, endpoints, $0) } != nil
    }

    /// Puts an order to the control loop and blocks until it is done.
    private func wait<Value: Sendable>(_ order: (@escaping @Sendable (Value?) -> Void) -> ControlOrder) -> Value? {
        guard let answer = try? Rendezvous<Value?>() else { return nil }
        put(order { answer.fulfil($0) })
        return answer.wait()
    }
}
