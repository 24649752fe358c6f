import PacketPath
import WireGuard

/// The one thread from the TUN to UDP, run to completion.
///
/// What is read is sealed into the train at once; the train goes out when nothing waits in the TUN, or when the next packet
/// does not fit into it.
struct TransmitLoop: ~Copyable {
    private let engine: Engine
    private var reader: TransmitReader
    private var sender: Sender

    init(_ engine: Engine, _ path: consuming TransmitPath) {
        self.engine = engine
        reader = TransmitReader(engine)
        sender = Sender(engine, path)
    }

    mutating func run() {
        while engine.isRunning {
            // The train is empty here.
            _ = engine.exchange.renew(&sender.view, for: .transmit)
            let now = Clock.now()
            reader.beginTurn(&sender, now)
            let isEmpty = drain(now)
            sender.flush()
            guard isEmpty else { continue }
            sender.publishDrops()
            reader.wait()
        }
        sender.publishDrops()
        reader.publishDrops()
    }

    /// Whether nothing waits in the TUN any more.
    private mutating func drain(_ now: Instant) -> Bool {
        for _ in 0..<TransmitReader.readsPerTurn {
            switch sender.path.read(from: engine.tun) {
            case .packet:
                if let permit = reader.admit(&sender, now) { sender.seal(permit) }
            case .dropped: continue
            // The interface is down (EIO): wait until it says that it can be read.
            case .empty, .failed: return true
            case .closed:
                reader.close()
                return true
            }
        }
        return false
    }
}
