import PacketPath
import Synchronization
import WireGuard

/// Several threads from the TUN to UDP.
///
/// The one that holds the reader reads: plain packets are sealed into the train there and then, since reading them is most
/// of their cost; a super-packet ends the read. Then it lets another read, seals on its own core, and sends in the order of
/// reading, or leaves that to the thread that seals an older packet.
final class TransmitCrew: Sendable {
    /// What the holder of the read token works with.
    private struct Reading: ~Copyable {
        var reader: TransmitReader
        var view = SocketExchange.View()
    }

    private let engine: Engine
    private let office: TicketOffice
    private let jobs: [Job<Sender>]
    private let token: Mutex<Reading>

    /// - Throws: ``PathError`` when memory or descriptors cannot be had.
    init(_ engine: Engine, threads: Int) throws(PathError) {
        self.engine = engine
        let office = try TicketOffice(capacity: 2 * threads)
        var jobs: [Job<Sender>] = []
        for _ in 0..<office.capacity {
            let path = try TransmitPath(backend: engine.backend, options: engine.options)
            jobs.append(Job(Sender(engine, path)))
        }
        self.office = office
        self.jobs = jobs
        token = Mutex(Reading(reader: TransmitReader(engine, office: office)))
    }

    /// The life of one thread: returns when the engine stops.
    func run() {
        while let slot = token.withLock({ read(&$0) }) {
            jobs[slot].value.work()
            office.complete(slot) { jobs[$0].value.finish() }
        }
    }

    /// Fills the next slot and takes its ticket; nil at the stop.
    private func read(_ reading: inout Reading) -> Int? {
        office.wait(outstandingAtMost: office.capacity - 1)
        let slot = office.nextSlot
        while engine.isRunning {
            renewSockets(&reading)
            if reading.reader.fill(&jobs[slot].value, from: engine.tun) {
                office.take()
                return slot
            }
        }
        reading.reader.publishDrops()
        return nil
    }

    /// Renews the sockets of every slot, and lets go of the old ones before it says so.
    private func renewSockets(_ reading: inout Reading) {
        guard engine.exchange.isNewer(than: reading.view) else { return }
        office.wait(outstandingAtMost: 0)
        for job in jobs { job.value.view = SocketExchange.View() }
        _ = engine.exchange.renew(&reading.view, for: .transmit)
        for job in jobs { job.value.view = reading.view }
    }
}

extension TransmitReader {
    /// One turn: reads until there is work, a super-packet, a full train, or all that waited in the TUN.
    ///
    /// - Returns: Whether there is; if not, it has waited for some.
    fileprivate mutating func fill(_ sender: inout Sender, from tun: TUNDevice) -> Bool {
        let now = Clock.now()
        beginTurn(&sender, now)
        reading: for _ in 0..<Self.readsPerTurn {
            switch sender.path.read(from: tun) {
            case .packet:
                if let permit = admit(&sender, now), !sender.take(permit) { return true }
            case .dropped: continue
            case .closed:
                close()
                break reading
            case .empty, .failed: break reading
            }
        }
        if !sender.path.isEmpty { return true }
        wait()
        return false
    }
}
