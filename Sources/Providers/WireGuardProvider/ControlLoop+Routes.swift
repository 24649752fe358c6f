import PacketPath
import Synchronization
import WireGuard

/// Local addresses of peers after a change of the machine's routes.
extension ControlLoop {
    /// The shortest time between two looks at all peers: a router's routes may change all the time.
    private static var shortestRest: TimeSpan { .milliseconds(10) }

    /// Lets the kernel choose the address anew for each peer to which the routes lead by another interface now.
    ///
    /// Answers leave from the address and by the interface that the peer was heard on. Without this they would do so for as
    /// long as that interface works, though a better one has come up.
    ///
    /// - Returns: When the next look may be: all together take no more than a tenth of the thread's time.
    func reviewSources() -> Instant {
        let start = Clock.now()
        let sockets = engine.exchange.sockets
        let marks = (sockets.ipv4?.mark ?? 0, sockets.ipv6?.mark ?? 0)
        for peer in device.allPeers {
            guard let (endpoint, source) = engine.shared.withLock({ $0.way(to: peer) }) else { continue }
            let (destination, mark) = (endpoint.onPath, endpoint.address.isIPv4 ? marks.0 : marks.1)
            // The scope of a link-local address is its interface.
            guard destination.scope == 0, source.interface != 0 else { continue }
            guard !RouteWatch.leads(to: destination, from: source, mark: mark) else { continue }
            engine.shared.withLock { shared in
                if shared.source(of: peer, for: endpoint) == source { shared.forgetSource(of: peer) }
            }
        }
        let end = Clock.now()
        return end + max(Self.shortestRest, TimeSpan(nanoseconds: (end - start).nanoseconds * 10))
    }
}

extension Engine.Shared {
    /// Where datagrams to a peer go and what they leave from; nil if that is not known or the kernel chooses.
    fileprivate func way(to peer: PeerIndex) -> (Endpoint, LocalAddress)? {
        guard let endpoint = transport.endpoint(of: peer), let source = source(of: peer, for: endpoint) else {
            return nil
        }
        return (endpoint, source)
    }
}
