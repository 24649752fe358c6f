import PacketPath
import Synchronization

/// The thread that follows the state and the MTU of an interface that others take up and down.
///
/// A TUN can be written exactly while its interface is up, in whatever network namespace that lies, and the kernel wakes
/// who waits for that. Nothing wakes who waits for the opposite, so an interface that is up is looked at once per second.
final class LinkWatch: Sendable {
    private static let interval: Int64 = 1_000_000_000

    private let event: EventDescriptor
    private let thread: DataThread

    /// Starts the thread.
    ///
    /// - Throws: ``PathError`` when the system gives no thread or descriptor.
    init(_ engine: Engine, _ sockets: OuterSockets) throws(PathError) {
        let event = try EventDescriptor()
        self.event = event
        thread = try DataThread("wg-link") { Self.run(engine, sockets, event) }
    }

    /// Ends the thread; the engine must have been told to stop.
    func stop() {
        event.signal()
        thread.join()
    }

    private static func run(_ engine: Engine, _ sockets: OuterSockets, _ event: EventDescriptor) {
        var poller = Poller()
        poller.add(event.descriptor)
        let device = poller.add(-1)
        while true {
            poller.replace(engine.tun.descriptor, at: device)
            poller.setInterest(.writable, at: device)
            _ = poller.wait(nanoseconds: 0)
            // A deleted interface: the transmit loop tells it.
            let state = poller.ready(device)
            if state.contains(.failed) { poller.replace(-1, at: device) }
            sockets.follow(isUp: state == .writable)
            if let mtu = engine.tun.mtu { engine.mtu.store(mtu, ordering: .relaxed) }
            if state == .writable || state.contains(.failed) { poller.replace(-1, at: device) }
            _ = poller.wait(nanoseconds: interval)
            if !poller.ready(0).isEmpty { return }
        }
    }
}
