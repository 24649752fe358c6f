package import PacketPath
import Synchronization
package import WireGuard

/// A running tunnel: three threads around one `Transport`.
///
/// ```
///  TUN ──read──▶ TransmitLoop ──seal──▶ UDP        one data thread each way, run to completion
///  TUN ◀─write── ReceiveLoop ◀──open─── UDP
///                   │  ▲ handshake messages, wake-ups
///                   ▼  │
///                ControlLoop (Device: handshakes, timers, cookies)
/// ```
/// `Transport` is the only state that the threads share, under a mutex that is held for a look-up and never during crypto
/// or a system call. Everything else is owned by one thread or crosses by a queue and an eventfd.
package final class Engine: Sendable {
    /// The data half of the protocol, and the local address that each peer was last heard on.
    struct Shared: ~Copyable {
        var transport = Transport()
        /// By the slot of the peer: answers leave from the address that the peer spoke to.
        var sources: [LocalAddress?] = []

        /// The address to answer a peer from, when it has the family of the destination.
        func source(of peer: PeerIndex, for endpoint: Endpoint) -> LocalAddress? {
            let slot = Int(peer.slot)
            guard slot < sources.count, let source = sources[slot] else { return nil }
            return source.address.family == (endpoint.address.isIPv4 ? 4 : 6) ? source : nil
        }
    }

    let tun: TUNDevice
    let sockets: Sockets
    let backend: AEADBackend
    let options: PathOptions
    let shared = Mutex(Shared())
    let handshakes = Mutex(HandshakeQueue())
    let orders = Mutex<[StagedOrder]>([])
    let inquiries = Mutex<[Inquiry]>([])
    let statistics = Mutex(EngineStatistics())
    let mtu: Atomic<Int>
    let isStopping = Atomic<Bool>(false)
    let controlWake: EventDescriptor
    let transmitWake: EventDescriptor
    let receiveWake: EventDescriptor
    private let threads = Mutex<[DataThread]>([])

    /// Makes an engine that does not run yet.
    ///
    /// - Parameters:
    ///   - tun: The interface; closed with the engine.
    ///   - sockets: The outer sockets; closed with the engine.
    ///   - mtu: The interface's MTU, which bounds the padding.
    ///   - options: The off switches of the packet path.
    ///   - backend: The cipher; the fastest one by default.
    /// - Throws: ``PathError`` when the system has no descriptor left.
    package init(
        tun: TUNDevice, sockets: Sockets, mtu: Int, options: PathOptions, backend: AEADBackend? = nil
    ) throws {
        self.tun = tun
        self.sockets = sockets
        self.options = options
        self.backend = backend ?? AEADBackend.select(options)
        self.mtu = Atomic(mtu)
        controlWake = try EventDescriptor()
        transmitWake = try EventDescriptor()
        receiveWake = try EventDescriptor()
    }

    /// Configures the protocol and starts the threads; call once.
    ///
    /// - Parameters:
    ///   - configuration: Keys and peers.
    ///   - endpoints: The resolved endpoint of each peer that has one.
    /// - Throws: ``PathError`` when memory or threads cannot be had; nothing runs then.
    package func start(_ configuration: Configuration, endpoints: [PublicKey: Endpoint]) throws {
        let transmit = try TransmitPath(backend: backend, options: options)
        let receive = try ReceivePath(tun: tun, backend: backend, options: options)
        // Each loop moves onto its own thread and stays there.
        let controlling = Handover(ControlLoop(self, configuration, endpoints))
        let transmitting = Handover(TransmitLoop(self, transmit))
        let receiving = Handover(ReceiveLoop(self, receive))
        do {
            try run("wg-control") {
                var loop = controlling.take()
                loop?.run()
            }
            try run("wg-tx") {
                var loop = transmitting.take()
                loop?.run()
            }
            try run("wg-rx") {
                var loop = receiving.take()
                loop?.run()
            }
        } catch {
            stop()
            throw error
        }
    }

    /// Ends the threads and returns when they have ended; later calls do nothing.
    package func stop() {
        isStopping.store(true, ordering: .releasing)
        for event in [controlWake, transmitWake, receiveWake] { event.signal() }
        for thread in threads.takeAll() { thread.join() }
        answerAll()
    }

    private func run(_ name: String, _ body: @escaping @Sendable () -> Void) throws {
        let thread = try DataThread(name, body)
        threads.withLock { $0.append(thread) }
    }

    /// Whether the loops should go on.
    var isRunning: Bool { !isStopping.load(ordering: .acquiring) }

    /// Asks control for the running configuration; the answer comes on its thread, "" when the engine has stopped.
    func ask(_ answer: @escaping @Sendable (String) -> Void) {
        inquiries.withLock { $0.append(Inquiry(answer: answer)) }
        guard isRunning else { return answerAll() }
        controlWake.signal()
    }

    private func answerAll() {
        for inquiry in inquiries.takeAll() { inquiry.answer("") }
    }

    /// Gives the transmit loop an order about staged packets.
    func give(_ order: StagedOrder) {
        orders.withLock { $0.append(order) }
        transmitWake.signal()
    }
}

/// The outer sockets by family.
package struct Sockets: Sendable {
    package let ipv4: UDPSocket?
    package let ipv6: UDPSocket?

    package init(ipv4: UDPSocket?, ipv6: UDPSocket?) {
        self.ipv4 = ipv4
        self.ipv6 = ipv6
    }

    /// The socket that reaches an endpoint, nil where the system lacks its family.
    func socket(for endpoint: Endpoint) -> UDPSocket? { endpoint.address.isIPv4 ? ipv4 : ipv6 }
}

/// What the transmit loop does with packets that wait for a session.
enum StagedOrder: Sendable {
    /// A session is there: send them, or a keepalive when there are none and the flag says so.
    case flush(PeerIndex, keepaliveIfEmpty: Bool)
    /// No session will come.
    case drop(PeerIndex)
}

/// A question to the control loop, answered on its thread with the text of the running configuration.
struct Inquiry: Sendable {
    let answer: @Sendable (String) -> Void
}

extension Mutex {
    /// Takes every element out of a queue that another thread fills.
    func takeAll<Element: Sendable>() -> [Element] where Value == [Element] {
        withLock { queue in
            defer { queue.removeAll(keepingCapacity: true) }
            return queue
        }
    }
}
