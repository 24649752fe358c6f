import PacketPath
import WireGuard

/// The one thread from UDP to the TUN, run to completion.
struct ReceiveLoop: ~Copyable {
    /// Receive calls before the TUN gets what is joined so far, and stop is looked at again.
    private static let receivesPerTurn = 16

    private let engine: Engine
    private var opener: Opener
    private var sockets: ReceiveSockets

    init(_ engine: Engine, _ path: consuming ReceivePath) {
        self.engine = engine
        opener = Opener(engine, path)
        sockets = ReceiveSockets(engine)
    }

    mutating func run() {
        while engine.isRunning {
            sockets.renew()
            let now = Clock.now()
            var received = false
            if let socket = sockets.ipv4 { received = drain(socket, now) }
            if let socket = sockets.ipv6, drain(socket, now) { received = true }
            opener.flush()
            // Also under a flood, which gives no rest, the counters are of this moment.
            opener.publishDrops()
            if !received { sockets.wait() }
        }
    }

    /// Whether anything came.
    private mutating func drain(_ socket: UDPSocket, _ now: Instant) -> Bool {
        var received = false
        for _ in 0..<Self.receivesPerTurn {
            let count = opener.receive(from: socket, of: &sockets, limit: ReceivePath.batch, now).trains
            guard count > 0 else { return received || count < 0 }
            received = true
            opener.handle()
        }
        return received
    }
}
