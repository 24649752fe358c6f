package import PacketPath
import Synchronization
package import WireGuard

/// A running tunnel: a control thread, and one or more data threads each way, around one `Transport`.
///
/// ```
///  TUN ──read──▶ TransmitLoop ──seal──▶ UDP        one data thread each way, run to completion,
///  TUN ◀─write── ReceiveLoop ◀──open─── UDP        or a TransmitCrew and a ReceiveCrew of several
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

        /// Lets the kernel choose the address until the peer is heard again; makes room for a new peer.
        mutating func forgetSource(of peer: PeerIndex) {
            while sources.count <= Int(peer.slot) { sources.append(nil) }
            sources[Int(peer.slot)] = nil
        }
    }

    let tun: TUNDevice
    let exchange: SocketExchange
    let backend: AEADBackend
    let options: PathOptions
    let timestamps: TimestampRecord
    let shared = Mutex(Shared())
    let handshakes = Mutex(HandshakeQueue())
    /// What handshake messages must carry to be queued; nil while there is no private key.
    let firstMAC = Mutex<FirstMAC?>(nil)
    let orders = Mutex<[StagedOrder]>([])
    private let controlOrders = Mutex<[ControlOrder]>([])
    let controlPackets = Mutex(ControlPacketQueue())
    private let wantsControlPlane = Atomic<Bool>(false)
    let statistics = Mutex(EngineStatistics())
    let mtu: Atomic<Int>
    let isStopping = Atomic<Bool>(false)
    let controlWake: EventDescriptor
    let transmitWake: EventDescriptor
    let receiveWake: EventDescriptor
    private let threads = Mutex<[DataThread]>([])
    private let interfaceGone: @Sendable () -> Void

    /// Makes an engine that does not run yet.
    ///
    /// - Parameters:
    ///   - tun: The interface; closed with the engine.
    ///   - sockets: The outer sockets; closed with the engine.
    ///   - mtu: The interface's MTU, which bounds the padding.
    ///   - options: The off switches of the packet path.
    ///   - backend: The cipher; the fastest one by default.
    ///   - timestamps: Where time stamps outlive the engine; nowhere by default.
    ///   - interfaceGone: Called once, on a data thread, when somebody deletes the interface.
    /// - Throws: ``PathError`` when the system has no descriptor left.
    package init(
        tun: TUNDevice, sockets: Sockets, mtu: Int, options: PathOptions, backend: AEADBackend? = nil,
        timestamps: TimestampRecord = TimestampRecord(directory: nil) { _, _ in },
        interfaceGone: @escaping @Sendable () -> Void = {}
    ) throws {
        self.tun = tun
        self.interfaceGone = interfaceGone
        exchange = SocketExchange(sockets)
        self.options = options
        self.timestamps = timestamps
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
        try start(ControlSettings(configuration), endpoints: endpoints, isUp: true)
    }

    /// Starts the threads with these settings, whose port and mark do not count; call once.
    ///
    /// - Parameters:
    ///   - settings: Keys and peers.
    ///   - endpoints: The endpoint of each peer that has one.
    ///   - isUp: Whether the interface is up; if not, nothing is sent until an order says that it is.
    ///   - plane: What speaks inside of the sessions; nil for nobody.
    ///   - names: The endpoints that are names.
    /// - Throws: ``PathError`` when memory or threads cannot be had; nothing runs then.
    func start(
        _ settings: ControlSettings, endpoints: [PublicKey: Endpoint], isUp: Bool,
        plane: sending (any ControlPlane)? = nil, names: EndpointNames = .none
    ) throws {
        // Each loop moves onto its own thread and stays there.
        let controlling = Handover(ControlLoop(self, settings, endpoints, isUp: isUp, plane, names))
        do {
            try run("wg-control") {
                var loop = controlling.take()
                loop?.run()
            }
            if options.threads > 1 { try startCrews() } else { try startLoops() }
        } catch {
            stop()
            throw error
        }
    }

    private func startLoops() throws {
        let transmitting = try Handover(TransmitLoop(self, TransmitPath(backend: backend, options: options)))
        let receiving = try Handover(ReceiveLoop(self, ReceivePath(tun: tun, backend: backend, options: options)))
        try run("wg-tx") {
            var loop = transmitting.take()
            loop?.run()
        }
        try run("wg-rx") {
            var loop = receiving.take()
            loop?.run()
        }
    }

    private func startCrews() throws {
        let transmit = try TransmitCrew(self, threads: options.threads)
        let receive = try ReceiveCrew(self, threads: options.threads)
        for number in 0..<options.threads {
            try run("wg-tx-\(number)") { transmit.run() }
            try run("wg-rx-\(number)") { receive.run() }
        }
    }

    /// Ends the threads and returns when they have ended; later calls do nothing.
    package func stop() {
        isStopping.store(true, ordering: .releasing)
        for event in [controlWake, transmitWake, receiveWake] { event.signal() }
        for thread in threads.takeAll() { thread.join() }
        abandonOrders()
    }

    private func run(_ name: String, _ body: @escaping @Sendable () -> Void) throws {
        let thread = try DataThread(name, body)
        threads.withLock { $0.append(thread) }
    }

    /// Whether the loops should go on.
    var isRunning: Bool { !isStopping.load(ordering: .acquiring) }

    /// Gives the control loop an order; it is abandoned at once when the engine has stopped.
    func put(_ order: ControlOrder) {
        controlOrders.withLock { $0.append(order) }
        guard isRunning else { return abandonOrders() }
        controlWake.signal()
    }

    /// Has the control plane called; from any thread.
    func wakeControlPlane() {
        wantsControlPlane.store(true, ordering: .releasing)
        controlWake.signal()
    }

    /// Whether the control plane is to be called; true once per occasion.
    func takeControlPlaneWish() -> Bool { wantsControlPlane.exchange(false, ordering: .acquiring) }

    /// The orders to the control loop that wait.
    func takeControlOrders() -> [ControlOrder] { controlOrders.takeAll() }

    private func abandonOrders() {
        for order in controlOrders.takeAll() { order.abandon() }
    }

    /// Puts other sockets in the place of the present ones, and returns when no thread uses those any more.
    func replaceSockets(_ sockets: Sockets) {
        exchange.put(sockets)
        guard threads.withLock({ !$0.isEmpty }) else { return }
        transmitWake.signal()
        receiveWake.signal()
        while isRunning, !exchange.isSettled { Clock.pause(nanoseconds: 100_000) }
    }

    /// Tells the owner that the interface was deleted.
    func tellInterfaceGone() {
        if isRunning { interfaceGone() }
    }

    /// Gives the transmit loop an order about staged packets.
    func give(_ order: StagedOrder) {
        orders.withLock { $0.append(order) }
        transmitWake.signal()
    }
}

/// What the transmit loop does with packets that wait for a session.
enum StagedOrder: Sendable {
    /// A session is there: send them, or a keepalive when there are none and the flag says so.
    case flush(PeerIndex, keepaliveIfEmpty: Bool)
    /// No session will come.
    case drop(PeerIndex)
    /// Send a packet of our own, behind those that wait.
    case send([UInt8], PeerIndex)
}

extension Mutex {
    /// Takes every element out of a queue that another thread fills.
    func takeAll<Element: Sendable>() -> [Element] where Value == [Element] {
        withLock { queue in
            if queue.isEmpty { return [] }
            defer { queue.removeAll(keepingCapacity: true) }
            return queue
        }
    }
}
