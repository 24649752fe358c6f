import PacketPath
import Synchronization
import WireGuard

/// Several threads from UDP to the TUN.
///
/// The one that holds the reader receives a train and lets another receive; it opens the train on its own core, and delivers
/// in the order of receiving, or leaves that to the thread that opens an older train.
final class ReceiveCrew: Sendable {
    private let office: TicketOffice
    private let jobs: [Job<Opener>]
    private let reader: Mutex<ReceiveReader>

    /// - Throws: ``PathError`` when memory or descriptors cannot be had.
    init(_ engine: Engine, threads: Int) throws(PathError) {
        let office = try TicketOffice(capacity: 2 * threads)
        var jobs: [Job<Opener>] = []
        for _ in 0..<office.capacity {
            let path = try ReceivePath(tun: engine.tun, backend: engine.backend, options: engine.options)
            jobs.append(Job(Opener(engine, path)))
        }
        self.office = office
        self.jobs = jobs
        reader = Mutex(ReceiveReader(engine))
    }

    /// The life of one thread: returns when the engine stops.
    func run() {
        while let slot = reader.withLock({ read(&$0) }) {
            jobs[slot].value.work()
            office.complete(slot) { jobs[$0].value.finish() }
        }
    }

    private func read(_ reader: inout ReceiveReader) -> Int? {
        office.wait(outstandingAtMost: office.capacity - 1)
        let slot = office.nextSlot
        guard reader.fill(&jobs[slot].value) else { return nil }
        office.take()
        return slot
    }
}

/// Receives from both sockets in turn.
private struct ReceiveReader: ~Copyable {
    /// A train of so many datagrams is work enough for one thread; shorter ones are received several at a time.
    private static let longTrain = 8

    private let engine: Engine
    private var sockets: ReceiveSockets
    private var limit = ReceivePath.batch
    private var beginsWithIPv6 = false

    init(_ engine: Engine) {
        self.engine = engine
        sockets = ReceiveSockets(engine)
    }

    /// Receives what is work for one thread; false at the stop.
    mutating func fill(_ opener: inout Opener) -> Bool {
        while engine.isRunning {
            sockets.renew()
            beginsWithIPv6.toggle()
            let (first, second) = beginsWithIPv6 ? (sockets.ipv6, sockets.ipv4) : (sockets.ipv4, sockets.ipv6)
            if receive(first, &opener) { return true }
            if receive(second, &opener) { return true }
            sockets.wait()
        }
        return false
    }

    private mutating func receive(_ socket: UDPSocket?, _ opener: inout Opener) -> Bool {
        guard let socket else { return false }
        let received = opener.receive(from: socket, of: &sockets, limit: limit, Clock.now())
        guard received.trains > 0 else { return false }
        limit = received.datagrams >= Self.longTrain ? 1 : ReceivePath.batch
        return true
    }
}
