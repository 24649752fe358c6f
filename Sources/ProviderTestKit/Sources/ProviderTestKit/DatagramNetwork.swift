internal import Synchronization

/// A network of two ends on a virtual clock: datagrams arrive as the script says, late, twice or never.
///
/// ```swift
/// let clock = VirtualClock()
/// let network = DatagramNetwork(clock: clock, script: .random(seed: 7, loss: 0.2, delay: .milliseconds(5)...(.seconds(1))))
/// network.left.send([1, 2, 3])
/// await clock.advance(by: .seconds(1))
/// ```
public final class DatagramNetwork: Sendable {
    /// One end.
    public let left: DatagramEnd
    /// The other end.
    public let right: DatagramEnd

    /// Joins two ends.
    public init(clock: VirtualClock, script: DatagramScript = .perfect) {
        let toLeft = Mailbox<[UInt8]>()
        let toRight = Mailbox<[UInt8]>()
        left = DatagramEnd(side: .left, inbox: toLeft, outbox: toRight, clock: clock, script: script)
        right = DatagramEnd(side: .right, inbox: toRight, outbox: toLeft, clock: clock, script: script)
    }
}

/// Which end of a network.
public enum DatagramSide: UInt64, Sendable { case left, right }

/// One end of a ``DatagramNetwork``.
public final class DatagramEnd: Sendable {
    private let side: DatagramSide
    private let inbox: Mailbox<[UInt8]>
    private let outbox: Mailbox<[UInt8]>
    private let clock: VirtualClock
    private let script: DatagramScript
    private let sent = Mutex<[[UInt8]]>([])

    init(
        side: DatagramSide, inbox: Mailbox<[UInt8]>, outbox: Mailbox<[UInt8]>, clock: VirtualClock,
        script: DatagramScript
    ) {
        self.side = side
        self.inbox = inbox
        self.outbox = outbox
        self.clock = clock
        self.script = script
    }

    /// All the datagrams that this end has sent, those that were lost included.
    public var sentDatagrams: [[UInt8]] { sent.withLock { $0 } }

    /// Sends a datagram; the script decides when it arrives, and whether.
    public func send(_ bytes: [UInt8]) {
        let number = sent.withLock { sent in
            sent.append(bytes)
            return sent.count - 1
        }
        let outbox = outbox
        let now = clock.now
        for delay in script.delays(SentDatagram(from: side, number: number, bytes: bytes)) {
            clock.schedule(at: now.advanced(by: delay)) { outbox.put([bytes]) }
        }
    }

    /// Waits for the next datagram that arrives.
    ///
    /// - Returns: The datagram, or nil once this end is closed or the task is cancelled.
    public func receive() async -> [UInt8]? { await inbox.take(1).first }

    /// Ends the waiting of ``receive()`` for good.
    public func close() { inbox.close() }
}
