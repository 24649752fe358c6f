import PacketPath

/// The sockets of a thread that receives, and the wait for datagrams or for another thread's word.
struct ReceiveSockets: ~Copyable {
    private let engine: Engine
    private var view = SocketExchange.View()
    private var poller = Poller()
    /// The sockets' own drop counts as last seen.
    var overflow = InlineArray<2, UInt32>(repeating: 0)

    init(_ engine: Engine) {
        self.engine = engine
        poller.add(-1)
        poller.add(-1)
        poller.add(engine.receiveWake.descriptor)
    }

    var ipv4: UDPSocket? { view.sockets.ipv4 }
    var ipv6: UDPSocket? { view.sockets.ipv6 }

    /// Takes the newest sockets of the engine.
    mutating func renew() {
        guard engine.exchange.renew(&view, for: .receive) else { return }
        overflow = InlineArray(repeating: 0)
        poller.replace(ipv4?.descriptor ?? -1, at: 0)
        poller.replace(ipv6?.descriptor ?? -1, at: 1)
    }

    mutating func wait() {
        _ = poller.wait(nanoseconds: nil)
        if poller.ready(2).contains(.readable) { engine.receiveWake.clear() }
    }
}
